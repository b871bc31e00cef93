import type { ServiceError } from '@grpc/grpc-js';
import { StoreError } from '../store.ts';

// Status codes of gRPC.
const invalidArgument = 3;
const deadlineExceeded = 4;
const notFound = 5;
const permissionDenied = 7;
const resourceExhausted = 8;
const failedPrecondition = 9;
const outOfRange = 11;
const unimplemented = 12;
const unauthenticated = 16;

const outOfSpace = 'database space exceeded';
const full =
  'the etcd database is full (NOSPACE alarm): compact, defragment and disarm; objects can be deleted in the meantime';
const tooManyOperations = 'too many operations';

/** The library has no code and no details for some failures, such as that of a message whose compression it does not know. */
type Failure = Partial<ServiceError>;

const isFailure = (error: unknown): error is Failure => error instanceof Error && 'details' in error;

const codeOf = (error: unknown): number => (isFailure(error) ? (error.code ?? -1) : -1);
const detailsOf = (error: unknown): string => (isFailure(error) ? (error.details ?? '') : '');

/** Whether the revision of the request has been compacted or has not been reached. */
export const isOutOfRange = (error: unknown): boolean => codeOf(error) === outOfRange;

export const isTimeout = (error: unknown): boolean => codeOf(error) === deadlineExceeded;

/** Whether the response is larger than the client accepts. */
export const isTooLarge = (error: unknown): boolean =>
  codeOf(error) === resourceExhausted && detailsOf(error).startsWith('Received message larger');

/** Failures before the request was carried out: no connection, or a limit of etcd on accepted requests. */
const unsent =
  /^No connection established|^Name resolution failed|Waiting for LB pick|^etcdserver: (?:no leader|too many requests)/;

/** Whether the request was certainly not carried out, but may succeed later. */
export const isUnsent = (error: unknown): boolean => unsent.test(detailsOf(error));

export const isLeaseLost = (error: unknown): boolean =>
  codeOf(error) === notFound && detailsOf(error).includes('lease not found');

export const isLeaseGranted = (error: unknown): boolean =>
  codeOf(error) === failedPrecondition && detailsOf(error).includes('lease already exists');

/** Whether etcd refused the request without carrying it out, and would refuse it again. */
export function isRefusal(error: unknown): boolean {
  switch (codeOf(error)) {
    case permissionDenied:
    case unauthenticated:
    case unimplemented:
      return true;
    case resourceExhausted:
      return /^etcdserver: mvcc|^grpc: received message larger|^Received message larger/.test(detailsOf(error));
    case invalidArgument:
    case notFound:
    case failedPrecondition:
    case outOfRange:
      return detailsOf(error).startsWith('etcdserver: ');
    default:
      return false;
  }
}

/** Whether etcd reports that its quota is reached. It nevertheless carries out the request that reaches it. */
export const isOutOfSpace = (error: unknown): boolean => detailsOf(error).includes(outOfSpace);

/** Returns the StoreError of a call that failed without effect. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const details = detailsOf(error);
  if (/request is too large|received message larger/.test(details)) {
    return new StoreError('invalid', 'the commit is larger than etcd accepts in one request (--max-request-bytes)', {
      cause: error,
    });
  }
  if (isOutOfSpace(error)) return new StoreError('full', full, { cause: error });
  const message = `etcd has failed: ${details === '' ? String(error) : details}`;
  const remedy = details.includes(tooManyOperations) ? ': raise --max-txn-ops of etcd to 128 or more' : '';
  return new StoreError('unavailable', message + remedy, { cause: error });
}

/** Returns the error of a commit whose outcome is unknown. */
export const uncertainError = (cause: unknown): StoreError =>
  new StoreError('uncertain', 'etcd has not told whether the commit took place', { cause });
