// The program of the controller thread, see ./controller-thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { createClient, type QueueObserver, type Transport } from '../../client/index.ts';
import {
  allControllers,
  componentName,
  defaultSettings,
  fakeNodeControllers,
  type SecretToken,
  settle,
  startControllers,
} from '../../controllers/index.ts';
import { namesFor } from '../../meta/index.ts';
import { systemClock } from '../clock.ts';
import { systemRandom } from '../random.ts';
import type { QueueEvent, ServerMessage, ThreadMessage, ThreadStart } from './messages.ts';
import { PortTransport } from './port-transport.ts';
import { packError, unpackError } from './thread-error.ts';

const start = workerData as ThreadStart;
const post = (message: ThreadMessage): void => parentPort?.postMessage(message);

/** Interval at which queue events are sent (ms). */
const queueEventsMs = 100;
let events: QueueEvent[] = [];

function reportEvent(...event: QueueEvent): void {
  if (events.length === 0) {
    systemClock.after(queueEventsMs, () => {
      post({ type: 'queues', events });
      events = [];
    });
  }
  events.push(event);
}

function observe({ name }: { readonly name: string }): QueueObserver {
  reportEvent(name, 'made', 0);
  return {
    added: () => reportEvent(name, 'added', 0),
    started: (seconds) => reportEvent(name, 'started', seconds),
    ended: (seconds) => reportEvent(name, 'ended', seconds),
    retried: () => reportEvent(name, 'retried', 0),
  };
}

const logAs =
  (level: 'info' | 'warn' | 'error') =>
  (text: string, fields: { readonly [name: string]: unknown } = {}) => {
    const { error, ...others } = fields;
    post({
      type: 'log',
      level,
      text,
      fields: { ...others, ...(error === undefined ? {} : { error: packError(error) }) },
    });
  };
const log = { info: logAs('info'), warn: logAs('warn'), error: logAs('error') };

let { certificates } = start;
const signatures = new Map<number, { resolve: (token: string) => void; reject: (error: Error) => void }>();
let lastSignature = 0;
const signSecretToken = (token: SecretToken) =>
  new Promise<string>((resolve, reject) => {
    const id = lastSignature++;
    signatures.set(id, { resolve, reject });
    post({ type: 'sign', id, token });
  });

const names = namesFor(start.apiDomain);
const port = new PortTransport(post);
const groups = ['system:serviceaccounts', `system:serviceaccounts:${names.systemNamespace}`];
const same = (transport: Transport) => transport;

function clientAs(commonName: string, organizations: readonly string[], agent: string, limit = same) {
  return createClient({
    transport: limit(port.of({ commonName, organizations })),
    baseHeaders: { 'user-agent': `${agent}/${start.version}` },
    apiDomain: start.apiDomain,
  });
}

const on = new Set(start.controllers);
const controllers = [
  ...allControllers.filter(({ name }) => on.has(name)),
  ...(start.fakeNodes === 0 ? [] : fakeNodeControllers({ count: start.fakeNodes, version: start.gitVersion })),
];
const running = startControllers({
  controllers,
  names,
  log,
  observe,
  clock: systemClock,
  random: systemRandom,
  settings: {
    ...defaultSettings,
    ...start.settings,
    rootCertificates: () => certificates.rootCa,
    signSecretToken,
    signingAuthority: () => certificates.signing,
  },
  rate: start.rate,
  reader: clientAs(`system:${componentName}`, [], componentName),
  clientOf: (account, user, limit) =>
    user === undefined
      ? clientAs(`system:serviceaccount:${names.systemNamespace}:${account}`, groups, componentName, limit)
      : clientAs(user.name, user.groups, user.agent, limit),
});

parentPort?.on('message', (message: ServerMessage) => {
  switch (message.type) {
    case 'certificates':
      certificates = message.certificates;
      break;
    case 'signed': {
      const { id, token, error } = message;
      const waiting = signatures.get(id);
      signatures.delete(id);
      if (error === undefined) waiting?.resolve(token ?? '');
      else waiting?.reject(unpackError(error));
      break;
    }
    case 'settle':
      settle(running).then(
        () => post({ type: 'settled', id: message.id }),
        (error: unknown) => post({ type: 'settled', id: message.id, error: packError(error) }),
      );
      break;
    case 'stop':
      void running.stop().then(() => {
        post({ type: 'queues', events });
        events = [];
        post({ type: 'stopped' });
      });
      break;
    default:
      port.take(message);
  }
});
