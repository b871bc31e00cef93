/** The built-in types. They are large, and few command lines need them: import this module on demand. */
import { compatibleDomain, defaultDomain, parseGroupVersion } from '../../meta/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { findType } from '../../types/find-type.ts';

/** The schema of a built-in type, in the names of either API domain; undefined for other types. */
export function builtInType(apiVersion: string, kind: string): StructSchema | undefined {
  const { group = '', version = '' } = parseGroupVersion(apiVersion) ?? {};
  const [first = '', ...domain] = group.split('.');
  const isOwn = domain.length === 0 || [compatibleDomain, defaultDomain].some((own) => group.endsWith(`.${own}`));
  return isOwn ? findType(`${first === '' ? 'core' : first}/${version}.${kind}`) : undefined;
}
