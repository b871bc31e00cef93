import { type FieldError, fieldError } from './field-error.ts';
import { dns1123Subdomain } from './validate-names.ts';

const pathForm = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const wholePath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** Validates a domain-prefixed path such as `example.com/name`. */
export function domainPath(field: string, value: string): FieldError[] {
  if (value === '') return [fieldError.required(field)];
  const slash = value.indexOf('/');
  const [host, path] = slash < 0 ? ['', ''] : [value.slice(0, slash), value.slice(slash + 1)];
  if (host === '' || path === '') {
    return [fieldError.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const found = dns1123Subdomain(host).map((why) => fieldError.invalid(field, host, why));
  if (wholePath.test(path)) return found;
  return [...found, fieldError.invalid(field, path, `Invalid path (regex used for validation is '${pathForm}')`)];
}
