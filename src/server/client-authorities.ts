/** The config map by which servers of other APIs learn whose client certificates they should trust. */
import { X509Certificate } from 'node:crypto';
import type { Client } from '../client/index.ts';
import { type ApiObject, at, formatPem, type Names, pemBlocks } from '../meta/index.ts';
import { ensureObject, isStatus } from './bootstrap-objects.ts';

/** For so long a certificate is still told of after its end: clocks differ (ms). */
const slackMs = 5 * 60_000;

/**
 * The config map names the given authorities (PEM) besides those that it named before, as other servers may have put
 * them there; without those that have expired. Its other keys stay. @throws StatusError
 */
export async function tellClientAuthorities(client: Client, names: Names, now: number, authorities: string) {
  const metadata = { name: 'extension-apiserver-authentication', namespace: names.systemNamespace };
  const place = { apiVersion: 'v1', resource: 'configmaps' };
  const found = await client.get<ApiObject>({ ...place, ...metadata }).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error;
    return undefined;
  });
  const held = at(found, 'data', 'client-ca-file');
  const text = mergeAuthorities([typeof held === 'string' ? held : '', authorities], now);
  if (text === '' || text === held) return;
  await ensureObject(client, { ...place, kind: 'ConfigMap', metadata, fields: { data: { 'client-ca-file': text } } });
}

/** The certificates of all texts, each once, that have not expired. */
function mergeAuthorities(texts: readonly string[], now: number): string {
  const blocks = texts
    .flatMap(pemBlocks)
    .filter(({ type, bytes }) => type === 'CERTIFICATE' && endOf(bytes) > now - slackMs);
  return [...new Set(blocks.map(({ type, bytes }) => formatPem(type, bytes)))].join('');
}

/** When a certificate expires; long ago when it is none. */
function endOf(bytes: Buffer): number {
  try {
    return Date.parse(new X509Certificate(bytes).validTo);
  } catch {
    return 0;
  }
}
