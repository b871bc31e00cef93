// npm start [-- FLAGS]: installs and builds when necessary, then serves the names that kubectl uses, unless a setting
// says otherwise.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, root } from './setup.mjs';

const { ppid: parent } = process;
build();
// A signal to npm ends npm and its shell, and does not reach this process.
const watching = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watching);
  process.kill(process.pid, 'SIGTERM');
}, 500);
watching.unref();
const flags = process.argv.slice(2);
const { ORCH_API_DOMAIN, ORCH_CONFIG } = process.env;
const isChosen =
  Boolean(ORCH_API_DOMAIN || ORCH_CONFIG) || flags.some((flag) => /^--(?:api-domain|config)\b/.test(flag));
// In the same process, so that the server receives the signals.
process.argv = [
  process.argv[0] ?? 'node',
  join(root, 'dist/server/main.js'),
  'serve',
  ...(isChosen ? [] : ['--api-domain=k8s.io']),
  ...flags,
];
await import(pathToFileURL(join(root, 'dist/server/main.js')).href);
