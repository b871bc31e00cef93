/** The command-line client `orch ctl`: commands as data, discovery with a cache, and output as kubectl prints it. */
export type { ProgramIo } from './io.ts';
export { interrupted, runCtl } from './run.ts';
