import { randomBytes } from 'node:crypto';
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createSecureContext } from 'node:tls';
import { der } from '../../src/pki/der.ts';
import { formatPem } from '../../src/pki/pem.ts';
import { issueCertificate } from '../../src/pki/x509.ts';
import { asAdmin, hold, refused, type Scenario } from './scenario.ts';

/** Attacks on what is signed and verified. */

const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests';

/** A certificate request with the largest RSA key that is read, and an exponent that makes each check long. */
function costlyRequest(): string {
  const modulus = randomBytes(2_048).fill(0xff, 0, 1).fill(0xff, 2_047);
  const key = der.sequence(der.unsigned(modulus), der.unsigned(Buffer.alloc(8, 0xff)));
  const algorithm = der.sequence(der.objectId('1.2.840.113549.1.1.1'), der.null());
  const publicKey = der.sequence(algorithm, der.bitString(key));
  const info = der.sequence(der.unsigned(Buffer.from([0])), der.sequence(), publicKey, der.explicit(0));
  const signature = der.bitString(randomBytes(2_048).fill(0, 0, 1));
  const signed = der.sequence(der.objectId('1.2.840.113549.1.1.11'), der.null());
  return formatPem('CERTIFICATE REQUEST', der.sequence(info, signed, signature));
}

const costlyCertificateRequests: Scenario = {
  name: 'costly-certificate-requests',
  title: 'certificate requests whose signatures take long to check hold up nobody',
  sharesServer: true,
  attack: async ({ client, full }) => {
    const spec = { signerName: 'example.com/a', usages: ['client auth'] };
    const body = { spec: { ...spec, request: Buffer.from(costlyRequest()).toString('base64') } };
    await Promise.all(
      Array.from({ length: full ? 1_000 : 40 }, async (_, i) => {
        const object = { ...body, metadata: { name: `r${i}` } };
        refused('a costly request', await client.http1(asAdmin('POST', requests, object)));
      }),
    );
  },
};

/** A client certificate of nobody's, with as many above it as a handshake takes, each signed by the next. */
function longChain(): { readonly cert: string; readonly key: string } {
  const life = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const { key } = issueCertificate({ commonName: '0', usage: 'authority', ...life });
  const chain = Array.from({ length: 180 }, (_, i) =>
    issueCertificate(
      { commonName: `${i}`, usage: i === 0 ? 'client' : 'authority', key, ...life },
      { cert: '', key, name: `${i + 1}` },
    ),
  );
  return { cert: chain.map(({ cert }) => cert).join(''), key };
}

/** A connection that holds back what is more than a ClientHello until it is released. */
class HeldBack extends Duplex {
  readonly #socket: Socket;
  readonly #released: Promise<void>;

  constructor(port: number, released: Promise<void>) {
    super();
    this.#socket = connectTcp(port, '127.0.0.1');
    this.#released = released;
    this.#socket.on('data', (piece) => this.push(piece));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.destroy());
  }

  override _read(): void {}

  override _write(piece: Buffer, _: string, written: () => void): void {
    const write = () => void this.#socket.write(piece, () => written());
    if (piece.length < 4_096) write();
    else void this.#released.then(write);
  }

  override _destroy(_: Error | null, done: () => void): void {
    this.#socket.destroy();
    done();
  }
}

const longClientChains: Scenario = {
  name: 'long-client-chains',
  title: 'client certificates with very many issuers hold up nobody',
  sharesServer: true,
  attack: async ({ server: { port, ca }, full }) => {
    const secureContext = createSecureContext({ ca, ...longChain() });
    const send = async (released: Promise<void>) => {
      const socket = connect({ socket: new HeldBack(port, released), secureContext, servername: 'localhost' });
      const ended = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => {});
      let answer = '';
      socket.on('data', (piece: Buffer) => {
        answer += piece.toString();
      });
      socket.write('GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      await ended;
      // Those whose turn does not come in time are closed.
      hold(
        answer === '' || answer.includes(' 401 '),
        `a certificate of nobody's is answered with ${answer.slice(0, 200)}`,
      );
    };
    for (let i = 0; i < (full ? 3 : 1); i++) {
      const together = sleep(1_000);
      await Promise.all(Array.from({ length: full ? 40 : 20 }, () => send(together)));
    }
  },
};

export const tokenScenarios: readonly Scenario[] = [costlyCertificateRequests, longClientChains];
