/** Validation of a webhook client config: a URL or a service. */
import { dns1123Subdomain, errorsOfEach, type FieldError, fieldError, portNumber } from '../../meta/index.ts';

interface Client {
  url?: string;
  service?: Service;
}
interface Service {
  namespace?: string;
  name?: string;
  path?: string;
  port?: number;
}

/** Defaults the port of a webhook service to 443. */
export function defaultPort(service: { port?: number } | undefined): void {
  if (service !== undefined) service.port ??= 443;
}

export function validateClient(client: Client | undefined, path: string): FieldError[] {
  const { url, service } = client ?? {};
  if ((url === undefined) === (service === undefined)) {
    return [fieldError.required(path, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateUrl(url, `${path}.url`);
  return service === undefined ? [] : validateService(service, `${path}.service`);
}

const form = '; desired format: https://host[/path]';

function validateUrl(text: string, path: string): FieldError[] {
  const [, scheme = '', host = '', place = '', query = '', fragment = ''] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text) ?? [];
  const at = host.lastIndexOf('@');
  const user = at < 0 ? undefined : host.slice(0, at);
  const server = host.slice(at + 1);
  const problem = problemOf(text, server, scheme === '' || place.startsWith('/') ? place : '');
  if (problem !== undefined) {
    return [fieldError.required(path, `url must be a valid URL: parse ${JSON.stringify(text)}: ${problem}${form}`)];
  }
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https') {
    errors.push(fieldError.invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`));
  }
  if (server === '') errors.push(fieldError.invalid(path, server, `host must be specified${form}`));
  if (user !== undefined) {
    // Passwords are not shown in errors.
    const maskedUser = user.replace(/:.*$/s, ':***');
    errors.push(fieldError.invalid(path, maskedUser, 'user information is not permitted in the URL'));
  }
  if (fragment.length > 1) {
    errors.push(fieldError.invalid(path, fragment.slice(1), 'fragments are not permitted in the URL'));
  }
  if (query.length > 1) {
    errors.push(fieldError.invalid(path, query.slice(1), 'query parameters are not permitted in the URL'));
  }
  return errors;
}

/** The reason why a text is not a URL, in the words of Go's `net/url`. */
function problemOf(text: string, server: string, path: string): string | undefined {
  if (/[^ -~\x80-\uffff]/.test(text)) return 'net/url: invalid control character in URL';
  if (text.startsWith(':')) return 'missing protocol scheme';
  if (server.startsWith('[') && !server.includes(']')) return "missing ']' in host";
  const [port = ''] = (server.startsWith('[') ? /[^\]]*$/ : /:[^:]*$/).exec(server) ?? [];
  if (!/^(?::[0-9]*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  const [odd] = /[ \\^`{|}]/.exec(server) ?? [];
  if (odd !== undefined) return `invalid character ${JSON.stringify(odd)} in host name`;
  const [broken] = /%(?![0-9a-f]{2}).{0,2}/is.exec(server + path) ?? [];
  if (broken !== undefined) return `invalid URL escape ${JSON.stringify(broken)}`;
  return /^[^/]*:/.test(path) ? 'first path segment in URL cannot contain colon' : undefined;
}

function validateService(
  { namespace = '', name = '', path: target = '', port = 0 }: Service,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (name === '') errors.push(fieldError.required(`${path}.name`));
  if (namespace === '') errors.push(fieldError.required(`${path}.namespace`));
  const problems = portNumber(port);
  if (problems.length > 0) {
    errors.push(fieldError.invalid(`${path}.port`, port, `port is not valid: ${problems.join(', ')}`));
  }
  return [...errors, ...validatePath(target, `${path}.path`)];
}

function validatePath(path: string, field: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [fieldError.invalid(field, path, 'segment[0] may not be empty')];
  const errors = path.startsWith('/') ? [] : [fieldError.invalid(field, path, "must start with a '/'")];
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  const ofSegments = errorsOfEach(segments, (segment, i) => {
    const problems = segment === '' ? [' may not be empty'] : dns1123Subdomain(segment).map((why) => `: ${why}`);
    return problems.map((why) => fieldError.invalid(field, path, `segment[${i}]${why}`));
  });
  return [...errors, ...ofSegments];
}
