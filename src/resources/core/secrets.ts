import {
  errorsAfter,
  errorsInSteps,
  type FieldError,
  fieldError,
  getKey,
  type JsonObject,
  type Names,
  type ObjectMeta,
  Pace,
  type Steps,
  setKey,
  sortedTexts,
} from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Secret } from '../../types/core-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { unchanged } from '../shared/field-rules.ts';
import { bytesSize, MAX_DATA_BYTES, validateImmutable, validateKeys } from './config-data.validation.ts';
import { keyPairWarnings, readJsonObject } from './secrets.validation.ts';

export const secrets = resource({
  group: '',
  plural: 'secrets',
  kind: 'Secret',
  schema: Secret,
  lifecycle: { introduced: '1.0' },
  columns: [name, ['Type', ({ type = '' }) => type], ['Data', ({ data = {} }) => Object.keys(data).length], age],
  selectableFields: [{ path: 'type', value: ({ type = '' }) => type }],
  strategy: {
    defaults: (secret) => {
      secret.type ||= 'Opaque';
      // `stringData` is write-only and merged into `data`.
      return secret.stringData === undefined ? undefined : foldText(secret, secret.stringData);
    },
    validate: (secret, { names }) => validateSecret(secret, names),
    validateUpdate: (secret, old) => [
      ...unchanged('type', secret.type, old.type),
      ...validateImmutable(secret, old, ['data']),
    ],
    warnings: ({ type = '', data = {} }, _, { names }) =>
      type === `${names.labels}/tls`
        ? keyPairWarnings(textOf(getKey(data, 'tls.crt') ?? ''), textOf(getKey(data, 'tls.key') ?? ''))
        : [],
  },
});

function* foldText(secret: ObjectOf<typeof Secret>, texts: Data): Steps<void> {
  const { data = {} } = secret;
  const pace = new Pace();
  const added = Object.keys(texts);
  if (pace.over(added.length)) yield;
  const dataKeys = Object.keys(data).filter((key) => !Object.hasOwn(texts, key));
  if (pace.over(dataKeys.length)) yield;
  const folded: JsonObject = {};
  for (const key of yield* sortedTexts([...dataKeys, ...added])) {
    if (pace.over()) yield;
    const text = getKey(texts, key);
    setKey(folded, key, text === undefined ? (data[key] as string) : Buffer.from(text).toString('base64'));
  }
  secret.data = folded as { [key: string]: string };
  delete secret.stringData;
}

function validateSecret(secret: ObjectOf<typeof Secret>, names: Names): FieldError[] {
  const { data = {}, type = '', metadata } = secret;
  const errors = validateKeys(data, 'data');
  const ofSize = errorsAfter(errors, () =>
    bytesSize(data) > MAX_DATA_BYTES ? [fieldError.tooLong('data', MAX_DATA_BYTES)] : [],
  );
  return [...errors, ...ofSize, ...(validators[type.replace(`${names.labels}/`, '')]?.(data, metadata, names) ?? [])];
}

type Data = { readonly [key: string]: string };
type Validator = (data: Data, metadata: ObjectMeta, names: Names) => FieldError[];

const missing = (data: Data, keys: readonly string[]): FieldError[] =>
  keys.filter((key) => !Object.hasOwn(data, key)).map((key) => fieldError.required(`data[${key}]`));

/** Validates that the value of a key is JSON; the error does not show the value. */
const jsonUnder =
  (key: string): Validator =>
  (data) => {
    const text = getKey(data, key);
    if (text === undefined) return missing(data, [key]);
    return errorsInSteps(function* () {
      const { problem } = yield* readJsonObject(textOf(text));
      return problem === undefined ? [] : [fieldError.invalid(`data[${key}]`, '<secret contents redacted>', problem)];
    });
  };

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString();

/** Validation by secret type; types are under the domain of labels. */
const validators: { readonly [type: string]: Validator } = {
  'service-account-token': (_, { annotations = {} }, { labels }) => {
    const key = `${labels}/service-account.name`;
    return annotations[key] ? [] : [fieldError.required(`metadata.annotations[${key}]`)];
  },
  dockercfg: jsonUnder('.dockercfg'),
  dockerconfigjson: jsonUnder('.dockerconfigjson'),
  'basic-auth': (data) => {
    const keys = ['username', 'password'];
    const errors = missing(data, keys);
    return errors.length === keys.length ? errors : [];
  },
  'ssh-auth': (data) => (data['ssh-privatekey'] ? [] : [fieldError.required('data[ssh-privatekey]')]),
  tls: (data) => missing(data, ['tls.crt', 'tls.key']),
};
