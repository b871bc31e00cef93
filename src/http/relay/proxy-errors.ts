import { StatusError, statusError } from '../../meta/index.ts';

/** Message and reason for the status of a kubelet; without a message, the kubelet's text. */
const errors: { readonly [status: number]: readonly [reason: string, message?: string] } = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  406: ['NotAcceptable'],
  409: ['Conflict', 'the server reported a conflict'],
  410: ['Gone', 'the server has received a request for a resource that is no longer available'],
  415: ['UnsupportedMediaType'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
};

/** The error for a kubelet's response to a request for the log of a pod. */
export function kubeletError(status: number, text: string, pod: string): StatusError {
  if (status === 500) return statusError.internal(text);
  if (status === 400) return statusError.badRequest(text);
  const other: readonly [string, string] =
    status > 500
      ? ['InternalError', `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`]
      : ['', `the server responded with the status code ${status} but did not return more information`];
  const [reason, message = text] = errors[status] ?? other;
  return new StatusError(status, reason, `${message} ( pods/log ${pod})`, { name: pod, kind: 'pods/log' });
}
