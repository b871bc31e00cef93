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
  /** The connections that are refused: all that are made while it is set. */
  refusing = false;
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

  /** Ends every connection, and lets new ones work. */
  cut(): void {
    this.requests = true;
    this.answers = true;
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
    const server = connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    client.on('data', (data) => {
      if (this.requests) server.write(data);
    });
    server.on('data', (data) => {
      if (this.answers) client.write(data);
    });
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  }
}
