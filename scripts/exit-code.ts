/** Exit codes of every command. */
export const ExitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  fewerThanAsked: 3,
  interrupted: 130,
} as const;
