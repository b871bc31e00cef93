import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay to a port of the loopback interface, whose connections can be disturbed. */
export class Relay {
  readonly #target: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>();
  /** Whether what clients send, and what the server answers, arrives. Else it is lost. */
  requests = true;
  answers = true;
  /** Whether new connections are refused. */
  refusing = false;
  #halted = false;
  /** The connections so far. */
  accepted = 0;
  port = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async to(target: number): Promise<Relay> {
    const relay = new Relay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    relay.port = (relay.#server.address() as { port: number }).port;
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Keeps what is sent over all connections, new ones too, until `resume`. */
  halt(): void {
    this.#halted = true;
    for (const socket of [...this.#pairs].flat()) socket.pause();
  }

  resume(): void {
    this.#halted = false;
    for (const socket of [...this.#pairs].flat()) socket.resume();
  }

  /** Ends every connection, and lets new ones work. */
  cut(): void {
    this.requests = true;
    this.answers = true;
    this.#halted = false;
    for (const [client, server] of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.refusing) {
      client.destroy();
      return;
    }
    this.accepted++;
    const server = connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    client.on('data', (data) => {
      if (this.requests) server.write(data);
    });
    server.on('data', (data) => {
      if (this.answers) client.write(data);
    });
    if (this.#halted) for (const socket of pair) socket.pause();
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  }
}
