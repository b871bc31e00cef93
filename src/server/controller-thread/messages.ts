import type { ControllerSettings, SecretToken } from '../../controllers/index.ts';
import type { CertKeyPair } from '../../pki/index.ts';

/** The start parameters of the thread. */
export interface ThreadStart {
  readonly apiDomain: string;
  readonly controllers: readonly string[];
  readonly fakeNodes: number;
  readonly gitVersion: string;
  readonly version: string;
  readonly rate: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly settings: Pick<ControllerSettings, 'features' | 'signingMs' | 'legacyTokenMs'>;
  readonly certificates: ThreadCertificates;
}

/** The certificates that controllers publish and sign with; undefined while the server does not listen. */
export interface ThreadCertificates {
  readonly rootCa: string | undefined;
  readonly signing: CertKeyPair | undefined;
}

/** A serialized error. */
export interface ThreadError {
  readonly message: string;
  readonly stack?: string | undefined;
  /** Only for a `StatusError`. */
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
}

/** An event of a work queue, for its metrics. */
export type QueueEvent = readonly [
  queue: string,
  event: 'made' | 'added' | 'started' | 'ended' | 'retried',
  seconds: number,
];

/** From the thread to the server. */
export type ThreadMessage =
  | {
      readonly type: 'request';
      readonly id: number;
      readonly subject: { readonly commonName: string; readonly organizations: readonly string[] };
      readonly method: string;
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
      readonly body: Uint8Array | undefined;
    }
  /** A chunk of the response has been read. */
  | { readonly type: 'read'; readonly id: number }
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'sign'; readonly id: number; readonly token: SecretToken }
  | { readonly type: 'queues'; readonly events: readonly QueueEvent[] }
  | {
      readonly type: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly text: string;
      readonly fields: { readonly [name: string]: unknown };
    }
  | { readonly type: 'settled'; readonly id: number; readonly error?: ThreadError | undefined }
  | { readonly type: 'stopped' };

/** From the server to the thread. */
export type ServerMessage =
  | {
      readonly type: 'response';
      readonly id: number;
      readonly status: number;
      readonly headers: { readonly [name: string]: string };
    }
  | { readonly type: 'chunk'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly type: 'end'; readonly id: number; readonly error?: ThreadError | undefined }
  | { readonly type: 'signed'; readonly id: number; readonly token?: string; readonly error?: ThreadError }
  | { readonly type: 'certificates'; readonly certificates: ThreadCertificates }
  | { readonly type: 'settle'; readonly id: number }
  | { readonly type: 'stop' };
