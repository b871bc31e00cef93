import { fieldError, immutable, jsonEqual } from '../../meta/index.ts';
import { ControllerRevision } from '../../types/apps-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew } from '../shared/field-rules.ts';

export const controllerRevisions = resource({
  group: 'apps',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  schema: ControllerRevision,
  lifecycle: { introduced: '1.9' },
  columns: [
    name,
    [
      'Controller',
      ({ metadata }) => {
        const owner = metadata.ownerReferences?.find((reference) => reference['controller'] === true);
        if (owner === undefined) return '<none>';
        const { apiVersion = '', kind = '' } = owner;
        const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
        return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${owner.name}`;
      },
    ],
    ['Revision', ({ revision = 0 }) => revision],
    age,
  ],
  strategy: {
    validate: (revision) =>
      isNew(revision) && (revision.data ?? null) === null ? [fieldError.required('data', 'data is mandatory')] : [],
    validateUpdate: ({ data }, old) => (jsonEqual(data, old.data) ? [] : [immutable('data', data)]),
  },
});
