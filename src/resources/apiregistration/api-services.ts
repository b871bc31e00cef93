import { pathSegmentName } from '../../meta/index.ts';
import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { APIService } from '../types/apiregistration-v1.ts';

export const apiServices = resource({
  group: 'apiregistration.{domain}',
  plural: 'apiservices',
  kind: 'APIService',
  schema: APIService,
  categories: ['api-extensions'],
  namespaced: false,
  status: true,
  columns: [
    name,
    [
      'Service',
      ({ spec }) => (spec?.service === undefined ? 'Local' : `${spec.service.namespace}/${spec.service.name}`),
    ],
    [
      'Available',
      ({ status }) => {
        const condition = status?.conditions?.find(({ type }) => type === 'Available');
        if (condition === undefined) return 'Unknown';
        return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason})`;
      },
    ],
    age,
  ],
  strategy: { nameRule: pathSegmentName, unconditionalUpdate: false },
});
