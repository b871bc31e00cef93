import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { Secret } from '../types/core-v1.ts';

export const secrets = resource({
  group: '',
  plural: 'secrets',
  kind: 'Secret',
  schema: Secret,
  columns: [name, ['Type', ({ type = '' }) => type], ['Data', ({ data = {} }) => Object.keys(data).length], age],
  selectableFields: [{ path: 'type', value: ({ type = '' }) => type }],
  strategy: {
    defaults: (secret) => {
      secret.type ??= 'Opaque';
    },
    // Text is given in `stringData` for convenience and kept in `data`.
    prepareCreate: (secret) => foldText(secret),
    prepareUpdate: (secret) => foldText(secret),
  },
});

function foldText(secret: { data?: { [key: string]: string }; stringData?: { [key: string]: string } }): void {
  if (secret.stringData === undefined) return;
  const data = new Map(Object.entries(secret.data ?? {}));
  for (const [key, text] of Object.entries(secret.stringData)) data.set(key, Buffer.from(text).toString('base64'));
  secret.data = Object.fromEntries([...data].sort(([a], [b]) => (a < b ? -1 : 1)));
  delete secret.stringData;
}
