// npm run dev [-- FLAGS]: serves a store in memory under the names that kubectl uses, and starts again with an empty store
// when a source changes. Certificates and the kubeconfig stay in orch-data/dev.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { install, root } from './setup.mjs';

install();
const { watch } = await import('rolldown');
const { modules, scripts } = await import('../rolldown.config.mjs');
const flags = ['--api-domain=k8s.io', '--store=memory', '--data-dir=orch-data/dev', ...process.argv.slice(2)];

/** @type {import('node:child_process').ChildProcess | undefined} */
let server;

async function stop() {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

async function restart() {
  await stop();
  server = spawn(process.execPath, ['dist/server/main.js', 'serve', ...flags], { cwd: root, stdio: 'inherit' });
}

// An editor may write a file in several steps: the build waits until they are done. The watcher waits for its listener
// before it builds again. A build that fails leaves the server as it is.
const watcher = watch([modules, ...scripts].map((config) => ({ ...config, watch: { buildDelay: 200 } })));
watcher.on('event', async (event) => {
  if (event.code === 'ERROR') console.error(event.error.message);
  if (event.code === 'BUNDLE_END') await event.result.close();
  if (event.code === 'END') await restart();
});
async function end() {
  await watcher.close();
  await stop();
  process.exit();
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end());
