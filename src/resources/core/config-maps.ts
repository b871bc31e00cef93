import { errorsAfter, type FieldError, fieldError } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { ConfigMap } from '../../types/core-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { bytesSize, MAX_DATA_BYTES, textSize, validateImmutable, validateKeys } from './config-data.validation.ts';

export const configMaps = resource({
  group: '',
  plural: 'configmaps',
  kind: 'ConfigMap',
  schema: ConfigMap,
  lifecycle: { introduced: '1.2' },
  shortNames: ['cm'],
  columns: [
    name,
    ['Data', ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length],
    age,
  ],
  strategy: {
    validate: validateConfigMap,
    validateUpdate: (map, old) => validateImmutable(map, old, ['data', 'binaryData']),
  },
});

function validateConfigMap({ data, binaryData }: ObjectOf<typeof ConfigMap>): FieldError[] {
  const twice = binaryData === undefined ? [] : Object.keys(data ?? {}).filter((key) => Object.hasOwn(binaryData, key));
  const errors = [
    ...validateKeys(data, 'data'),
    ...twice.map((key) => fieldError.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...validateKeys(binaryData, 'binaryData'),
  ];
  // The limit applies to the object as a whole: the error names no field.
  const ofSize = errorsAfter(errors, () =>
    textSize(data) + bytesSize(binaryData) > MAX_DATA_BYTES ? [fieldError.tooLong('[]', MAX_DATA_BYTES)] : [],
  );
  return [...errors, ...ofSize];
}
