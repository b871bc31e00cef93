/**
 * The commands that run a server, and call `started` once it listens. The build makes this module a script: see ../script.ts.
 */
import { serverTable } from '../settings/flags.ts';
import { demoTable } from './demo-docs.ts';
import { serveWith } from './serve.ts';

export { runApiServer } from '../envtest/api-server.ts';

/** Runs `orch serve`. */
export const serve = serveWith('serve', serverTable);

/** Runs `orch demo`. */
export const demo = serveWith('demo', demoTable);
