import { createServer, type Server } from 'node:http';
import { firstSignal, runToEnd } from '../commands/run-until-signal.ts';
import { StartError, systemReason } from '../start-error.ts';
import { clientUrls } from './arguments.ts';

/** The responses by path. */
const answers: { readonly [path: string]: object } = {
  '/health': { health: 'true', reason: '' },
  '/version': { etcdserver: '3.5.0', etcdcluster: '3.5.0' },
};

/**
 * Runs in place of etcd, with its arguments, until SIGINT or SIGTERM. It reports that it is healthy and stores nothing: the
 * API server keeps objects in memory.
 */
export async function runEtcd(args: readonly string[]): Promise<void> {
  const signal = firstSignal();
  await runToEnd(async () => {
    const servers = await Promise.all(clientUrls(args).map(listen));
    await signal;
    for (const server of servers) server.closeAllConnections();
  });
}

function listen(text: string): Promise<Server> {
  const flag = `--listen-client-urls=${JSON.stringify(text)}`;
  if (!URL.canParse(text) || !text.startsWith('http:')) throw new StartError(`${flag} must be an http URL`);
  const url = new URL(text);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', url);
    const answer = Object.hasOwn(answers, pathname) ? answers[pathname] : undefined;
    const body = answer ?? { message: 'this stands in for etcd, and keeps nothing' };
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  return new Promise((resolve, reject) => {
    server.on('error', (error) => reject(new StartError(`${flag}: ${systemReason(error)}`, error)));
    server.listen(Number(url.port), url.hostname.replace(/^\[|\]$/g, ''), () => resolve(server));
  });
}
