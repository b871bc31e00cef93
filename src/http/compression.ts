/** The compression of large responses. */
import { acceptsGzip, compressBody } from '../codec/index.ts';
import type { User } from '../meta/index.ts';
import type { Call } from './call.ts';
import { isStreamed } from './listener/tracked-body.ts';
import type { ApiRequest, ApiResponse } from './types.ts';

/** Responses up to this size are never compressed (bytes). */
export const maxUncompressedBytes = 64 * 1024;

/** The memory of a large response that is built for one client is counted, after compression. */
export async function largeResponse(
  response: ApiResponse,
  { request, user, reservation }: Call,
  compress: boolean,
): Promise<ApiResponse> {
  const result = compress ? await compressResponse(response, request, user, reservation) : response;
  if (typeof result.body === 'string') reservation.addResponse(result.body.length);
  return result;
}

/** Of many lists at a time, those beyond the limit of the user are sent as they are. */
async function compressResponse(
  response: ApiResponse,
  { method, headers }: ApiRequest,
  { name }: User,
  reservation: Call['reservation'],
): Promise<ApiResponse> {
  if (method !== 'GET' || response.status !== 200 || response.headers['content-encoding'] !== undefined)
    return response;
  if (!acceptsGzip(headers['accept-encoding'])) return response;
  const { gzip } = response;
  if (gzip === undefined && isStreamed(response.body) && !reservation.tryCompress()) return response;
  const { body, encoding } =
    gzip === undefined ? await compressOnce(response.body, name) : { ...gzip, encoding: 'gzip' };
  if (encoding === undefined) return { ...response, body };
  return {
    ...response,
    body,
    headers: {
      ...response.headers,
      ...(gzip && { 'content-length': String(gzip.length) }),
      'content-encoding': encoding,
      vary: [response.headers['vary'], 'Accept-Encoding']
        .flat()
        .filter((name) => name !== undefined)
        .join(', '),
    },
  };
}

const compressedDocuments = new WeakMap<Uint8Array, ReturnType<typeof compressBody>>();

/** Compresses a body. Bytes are a document that many requests share: it is compressed once. */
function compressOnce(body: ApiResponse['body'], user: string): ReturnType<typeof compressBody> {
  if (!(body instanceof Uint8Array)) return compressBody(body, user);
  let compression = compressedDocuments.get(body);
  if (compression === undefined) {
    compression = compressBody(body, user);
    compression.catch(() => compressedDocuments.delete(body));
    compressedDocuments.set(body, compression);
  }
  return compression;
}
