export { countAbove, minimaAndMaxima, split } from './channels';
export { findLargest, label } from './components';
export { drawLargest, erodedLargest } from './cut-out';
export { arrangeEdges, drawEdges, insideAddress, luminanceAddress } from './edges';
export { arrange, planeAddress, rgbAddress } from './memory';
export {
  addColumns,
  addRows,
  arrangeResize,
  columnWeightsAddress,
  firstsAddress,
  rowWeightsAddress,
  sourceAddress,
  targetAddress,
} from './resize';
