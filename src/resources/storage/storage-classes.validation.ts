import { type FieldError, fieldError, qualifiedName } from '../../meta/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import type { TopologySelectorTerm } from '../../types/core-v1.ts';
import type { StorageClass } from '../../types/storage-v1.ts';
import { byRule, eachOf, oneOf, unique } from '../shared/field-rules.ts';

type Term = Infer<typeof TopologySelectorTerm>;

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;

export function validateClass(storage: ObjectOf<typeof StorageClass>): FieldError[] {
  const { provisioner = '', parameters, reclaimPolicy = '', allowedTopologies } = storage;
  return [
    ...(provisioner === '' ? [] : byRule('provisioner', provisioner.toLowerCase(), qualifiedName)),
    ...validateParameters(parameters ?? {}),
    ...(reclaimPolicy === '' ? [] : oneOf('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain'])),
    ...validateTopologies(allowedTopologies, 'allowedTopologies'),
  ];
}

/** Validates the parameters that the provisioner gets with each volume. */
export function validateParameters(parameters: { readonly [key: string]: string }): FieldError[] {
  const path = 'parameters';
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [fieldError.tooLong(path, MAX_PARAMETERS)];
  const errors = entries
    .filter(([key]) => key === '')
    .map(() => fieldError.invalid(path, '', 'field can not be empty.'));
  const size = entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0);
  return size > MAX_PARAMETER_BYTES ? [...errors, fieldError.tooLong(path, MAX_PARAMETER_BYTES)] : errors;
}

/** Validates `allowedTopologies`: terms must be unique and not empty. */
function validateTopologies(terms: readonly Term[] | undefined, path: string): FieldError[] {
  // An empty term is reported as a duplicate, even the first one.
  const seen = new Set(['[]']);
  return eachOf(terms, path, ({ matchLabelExpressions: expressions = [] }, at) => {
    const list = `${at}.matchLabelExpressions`;
    const errors = [
      ...unique(expressions, list, ({ key = '' }) => key, '.key'),
      ...eachOf(expressions, list, ({ key = '', values }, place) => [
        ...unique(values, `${place}.values`, (value) => value),
        ...byRule(`${place}.key`, key, qualifiedName),
      ]),
    ];
    const identity = JSON.stringify(
      expressions.map(({ key = '', values }) => [key, ...new Set([...(values ?? [])].sort())].join('\n')).sort(),
    );
    if (seen.has(identity)) errors.push(fieldError.duplicate(list, ''));
    seen.add(identity);
    return errors;
  });
}
