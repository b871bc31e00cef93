/** The command-line client `orch ctl`: commands as data, discovery with a cache, and output as kubectl prints it. */
export type { Input, Io, Output } from './io.ts';
export { runCtl } from './run.ts';
