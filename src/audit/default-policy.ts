import type { Names } from '../meta/index.ts';
import type { Policy } from './types.ts';

/**
 * The policy of a server that has a backend and no policy file: nothing of health checks and discovery, the
 * metadata of reads and of what carries secrets, and the request objects of all other writes.
 */
export function defaultPolicy({ domain }: Names): Policy {
  return {
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      {
        level: 'None',
        verbs: ['get'],
        nonResourceURLs: ['/healthz*', '/livez*', '/readyz*', '/version*', '/openapi*', '/api', '/api/*', '/apis*'],
      },
      {
        level: 'Metadata',
        resources: [
          { resources: ['secrets', 'configmaps', 'serviceaccounts/token'] },
          { group: `authentication.${domain}`, resources: ['tokenreviews'] },
        ],
      },
      { level: 'Request', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
      { level: 'Metadata' },
    ],
  };
}
