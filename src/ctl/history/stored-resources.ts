import type { Discovery } from '../cluster/discovery.ts';
import type { Resource } from '../cluster/resource.ts';

/**
 * The resources whose objects are stored: those that can be listed and watched. Endpoints are left out: they are deprecated,
 * with a warning for each request, and EndpointSlices show the same.
 */
export const storedResources = (discovery: Discovery): Resource[] =>
  discovery
    .preferred()
    .filter(({ verbs }) => verbs.includes('list') && verbs.includes('watch'))
    .filter(({ group, name }) => group !== '' || name !== 'endpoints');
