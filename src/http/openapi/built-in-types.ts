import type { TypeMeta } from '../../codec/index.ts';
import { parseGroupVersion } from '../../meta/index.ts';
import type { StructSchema } from '../../schema/index.ts';

/** The schema of a built-in type by its name, such as `apps/v1.Deployment`. */
export type FindType = (name: string) => StructSchema | undefined;

/** The packages of types, by the first label of their group, where they differ. */
const packages: ReadonlyMap<string, string> = new Map([
  ['', 'core'],
  ['internal', 'apiserverinternal'],
]);

/** Versions whose types have the same fields as those of another one. */
const aliases: ReadonlyMap<string, string> = new Map([['apidiscovery/v2beta1', 'apidiscovery/v2']]);

/** The schema of a kind. Kinds that every group has, such as DeleteOptions, are those of meta/v1. */
export function builtInSchema(findType: FindType, { apiVersion, kind }: TypeMeta): StructSchema | undefined {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  const [label = ''] = group.split('.', 1);
  const name = `${packages.get(label) ?? label}/${version}`;
  return findType(`${aliases.get(name) ?? name}.${kind}`) ?? findType(`meta/v1.${kind}`);
}
