import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const token = 'token-of-a-client';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly type?: string;
}

/** Where clients reach one server, which keeps its port and its folder when it is started again. */
export class Endpoint {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  /** The file with the token of the clients. */
  readonly tokens: string;
  #agent: https.Agent | undefined;
  #hasAnswered = false;

  constructor(name: string, folder: string, port: number) {
    this.name = name;
    this.folder = folder;
    this.port = port;
    this.tokens = join(folder, 'tokens.csv');
    writeFileSync(this.tokens, `${token},client,client,"system:masters"\n`, { mode: 0o600 });
  }

  /** Whether the server has answered since it was started. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** To be called when the server starts: connections to an earlier one are ended. */
  begin(): void {
    this.close();
    this.#hasAnswered = false;
  }

  async isReady(): Promise<boolean> {
    const answer = await this.ask({ method: 'GET', path: '/readyz' }, 1_000).catch(() => undefined);
    return answer?.status === 200;
  }

  /** Resolves when the replica is ready, or false when it is not within the time (ms). */
  async ready(time: number): Promise<boolean> {
    const deadline = performance.now() + time;
    while (performance.now() < deadline) {
      if (await this.isReady()) return true;
      await sleep(20);
    }
    return false;
  }

  /** @throws Error without an answer within `patience` (ms) */
  ask(ask: Ask, patience: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        reject(error);
      };
      const body = ask.body === undefined ? undefined : Buffer.from(JSON.stringify(ask.body));
      const request = this.#request(ask, body, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', fail);
        response.on('end', () => {
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${patience} ms`)), patience);
      request.on('error', fail);
      request.end(body);
    });
  }

  /** Opens a stream. @throws Error when there is no answer within `patience` (ms) */
  stream(path: string, patience: number): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = this.#request({ method: 'GET', path }, undefined, (response) => {
        clearTimeout(timer);
        resolve(response);
      });
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${patience} ms`)), patience);
      request.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      request.end();
    });
  }

  /** Ends connections that are kept. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #request({ method, path, type }: Ask, body: Buffer | undefined, answered: (response: IncomingMessage) => void) {
    const options: RequestOptions = {
      host: '127.0.0.1',
      port: this.port,
      agent: this.#connections(),
      method,
      path,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json', 'content-length': body.length }),
      },
    };
    return https.request(options, (response) => {
      this.#hasAnswered = true;
      answered(response);
    });
  }

  /** The server writes its authority to its folder when it starts. */
  #connections(): https.Agent {
    this.#agent ??= new https.Agent({ keepAlive: true, ca: readFileSync(join(this.folder, 'ca.crt')) });
    return this.#agent;
  }
}
