export { countAbove, minimaAndMaxima, split } from './channels';
export { findLargest, label } from './components';
export { drawLargest, erodedLargest } from './cut-out';
export { arrange, planeAddress, rgbAddress } from './memory';
