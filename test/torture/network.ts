import { randomInt } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Whether data flows from one party to another: `held` keeps it back until the gate opens again, as TCP does over a
 * network that drops packets; `reset` ends connections and refuses new ones.
 */
export type Gate = 'open' | 'held' | 'reset';

/** Who dials, as far as the first bytes of a connection tell; undefined: more of them are needed. */
export type Identify = (head: string) => string | undefined;

/** The most bytes at the beginning of a connection in which its dialler is looked for. */
const headLimit = 8_192;

/** Connections between parties on this machine, through proxies that can cut them. */
export class Network {
  readonly #gates = new Map<string, Gate>();
  readonly #servers: Server[] = [];
  readonly #links = new Set<Link>();

  /** Sets the gate in one direction, for connections that there are and those to come. */
  set(from: string, to: string, gate: Gate): void {
    this.#gates.set(`${from}>${to}`, gate);
    for (const link of this.#links) link.apply();
  }

  /** Opens all gates. */
  heal(): void {
    this.#gates.clear();
    for (const link of this.#links) link.apply();
  }

  /** A port that leads to the port `target` of the party `to`, for one dialler, or for those that `from` can tell. */
  async proxy(from: string | Identify, to: string, target: number): Promise<number> {
    const server = createServer((socket) => {
      const open = (dialler: string, head: Buffer) => this.#open(socket, dialler, to, target, head);
      if (typeof from === 'string') open(from, Buffer.alloc(0));
      else readHead(socket, from, open);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const link of this.#links) link.end();
  }

  #open(socket: Socket, from: string, to: string, target: number, head: Buffer): void {
    const gate = (a: string, b: string) => this.#gates.get(`${a}>${b}`) ?? 'open';
    const far = connect(target, '127.0.0.1');
    far.write(head);
    const link = new Link(
      { source: socket, sink: far, gate: () => gate(from, to) },
      { source: far, sink: socket, gate: () => gate(to, from) },
      () => this.#links.delete(link),
    );
    this.#links.add(link);
    link.apply();
  }
}

interface Flow {
  readonly source: Socket;
  readonly sink: Socket;
  readonly gate: () => Gate;
}

/** One connection: two flows. */
class Link {
  readonly #flows: readonly [Flow, Flow];
  readonly #over: () => void;
  #isEnded = false;

  constructor(there: Flow, back: Flow, over: () => void) {
    this.#flows = [there, back];
    this.#over = over;
    for (const flow of this.#flows) {
      const { source, sink } = flow;
      source.setNoDelay(true);
      source.on('data', (piece: Buffer) => {
        if (!sink.write(piece)) source.pause();
      });
      sink.on('drain', () => this.apply());
      source.on('end', () => sink.end());
      source.on('error', () => source.destroy());
      source.on('close', () => this.apply());
    }
  }

  /** Lets flow what may flow. Where nothing may, the end of a connection does not get through either. */
  apply(): void {
    const gates = this.#flows.map(({ gate }) => gate());
    if (gates.includes('reset')) this.end();
    for (const { source, sink, gate } of this.#flows) {
      if (gate() === 'held') source.pause();
      else if (!source.destroyed) {
        if (!sink.writableNeedDrain) source.resume();
      } else if (!sink.writableEnded) sink.destroySoon();
    }
    if (this.#flows.every(({ source }) => source.destroyed)) this.#over();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const { source } of this.#flows) source.resetAndDestroy();
  }
}

/** Reads from a socket until its dialler is known; one that stays unknown is called '?'. */
function readHead(socket: Socket, identify: Identify, found: (dialler: string, head: Buffer) => void): void {
  let head = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  const read = (piece: Buffer) => {
    head = Buffer.concat([head, piece]);
    const dialler = identify(head.toString('latin1')) ?? (head.length > headLimit ? '?' : undefined);
    if (dialler === undefined) return;
    socket.off('data', read);
    socket.pause();
    found(dialler, head);
  };
  socket.on('data', read);
}

/** Below the ports that systems give to connections, so that a server finds its port free when it comes back. */
const [firstPort, ports] = [20_000, 12_000];

/** Ports that nobody listens on, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = firstPort + randomInt(ports);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
