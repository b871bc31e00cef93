import { type Features, type Names, nodeOf, quote, type ResourcePlace, type User } from '../../meta/index.ts';
import { bootstrapPolicy } from '../bootstrap-policy/policy.ts';
import { compileRules, pathAction, resourceAction, rulesAllow, rulesOf } from '../rbac/rules.ts';
import type { Attributes, Authorizer, Decision, Rules } from '../types.ts';
import { noOpinion } from '../types.ts';
import type { NodeGraph, OwnedResource, ReferencedResource } from './node-graph.ts';

const allowed: Decision = { allowed: true, reason: '' };
const because = (reason: string): Decision => ({ allowed: false, reason });

const noRules: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };
const unlistedRules: Rules = {
  ...noRules,
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
};

/** Decides about a request of a node for a resource. */
type Rule = (node: string, attributes: Attributes, place: ResourcePlace) => Decision;

interface NodeAuthorizerOptions {
  readonly graph: NodeGraph;
  readonly names: Names;
  readonly features: Pick<Features, 'AuthorizeNodeWithSelectors'> & Features;
}

/**
 * The authorization mode `Node`: lets a node read what belongs to it, and what its pods refer to, and write what it reports.
 * The plugin `NodeRestriction` limits its writes to its own objects. Has no opinion about other users.
 */
export function nodeAuthorizer({ graph, names, features }: NodeAuthorizerOptions): Authorizer {
  const rules = rulesByResource(graph, names, features);
  const common = commonRules(names, features);
  const authorize = (attributes: Attributes): Decision => {
    const { user, verb, resource: place, path } = attributes;
    const node = nodeOf(user);
    if (node === undefined) return noOpinion;
    if (node === '') return because(`unknown node for user ${quote(user.name)}`);
    if (place === undefined) return rulesAllow(common, pathAction(verb, path)) ? allowed : noOpinion;
    const rule = rules.get(place.group)?.get(place.resource);
    if (rule !== undefined) return rule(node, attributes, place);
    const action = resourceAction(verb, place.group, place.resource, place.subresource, place.name);
    return rulesAllow(common, action) ? allowed : noOpinion;
  };
  return Object.assign(authorize, {
    // The rights of a node depend on its pods, so its rules cannot be listed.
    rulesFor: (user: User) => (nodeOf(user) === undefined ? noRules : unlistedRules),
  });
}

/** The rights of every node: those of the role of nodes, and all reads of endpoints. */
function commonRules(names: Names, features: Features) {
  const role = bootstrapPolicy(names, features).find(({ metadata }) => metadata.name === 'system:node');
  const endpoints = { apiGroups: [''], resources: ['endpoints'], verbs: ['get', 'list', 'watch'] };
  const { rules = [] } = role !== undefined && 'rules' in role ? role : {};
  return compileRules(rulesOf({ apiVersion: '', kind: '', metadata: {}, rules: [...(rules ?? []), endpoints] }));
}

const reads: readonly string[] = ['get', 'list', 'watch'];
const ownVerbs: readonly string[] = ['get', 'create', 'update', 'patch', 'delete'];

function rulesByResource(
  graph: NodeGraph,
  names: Names,
  features: NodeAuthorizerOptions['features'],
): ReadonlyMap<string, ReadonlyMap<string, Rule>> {
  const withSelectors = features.AuthorizeNodeWithSelectors;
  const related =
    (resource: ReferencedResource | OwnedResource): Rule =>
    (node, _, { namespace, name }) => {
      if (name === '') return because('No Object name found');
      if (graph.reaches(node, resource, namespace, name)) return allowed;
      return because(`no relationship found between node '${node}' and this object`);
    };
  const get = (resource: ReferencedResource | OwnedResource): Rule => {
    const decide = related(resource);
    return (node, attributes, place) => {
      if (attributes.verb !== 'get') return because('can only get individual resources of this type');
      return place.subresource === '' ? decide(node, attributes, place) : because('cannot get subresource');
    };
  };
  const read = (resource: ReferencedResource): Rule => {
    const decide = related(resource);
    return (node, attributes, place) => {
      if (!reads.includes(attributes.verb)) return because('can only read resources of this type');
      if (place.subresource !== '') return because('cannot read subresource');
      if (place.namespace === '') return because('can only read namespaced object of this type');
      return decide(node, attributes, place);
    };
  };
  return new Map<string, Map<string, Rule>>([
    [
      '',
      new Map<string, Rule>([
        ['secrets', read('secrets')],
        ['configmaps', read('configmaps')],
        ['persistentvolumeclaims', claimRule(get('persistentvolumeclaims'), related('persistentvolumeclaims'))],
        ['persistentvolumes', get('persistentvolumes')],
        ['serviceaccounts', tokenRule(related('serviceaccounts'))],
        ...(withSelectors
          ? [['nodes', nodeRule] as const, ['pods', podRule(get('pods'), related('pods'))] as const]
          : []),
      ]),
    ],
    [
      `resource.${names.domain}`,
      new Map([
        ['resourceclaims', get('resourceclaims')],
        ['resourceslices', sliceRule(related('resourceslices'), withSelectors)],
      ]),
    ],
    [
      `storage.${names.domain}`,
      new Map([
        ['volumeattachments', get('volumeattachments')],
        ['csinodes', csiNodeRule],
      ]),
    ],
    [`coordination.${names.domain}`, new Map([['leases', leaseRule(names)]])],
  ]);
}

/** A claim may be read, and its status written. */
const claimRule =
  (get: Rule, related: Rule): Rule =>
  (node, attributes, place) => {
    if (place.subresource !== 'status') return get(node, attributes, place);
    if (['update', 'patch'].includes(attributes.verb)) return related(node, attributes, place);
    return because('can only get/update/patch this type');
  };

const tokenRule =
  (related: Rule): Rule =>
  (node, attributes, place) => {
    if (attributes.verb !== 'create' || place.name === '') {
      return because('can only create tokens for individual service accounts');
    }
    if (place.subresource !== 'token') return because('can only create token subresource of serviceaccount');
    return related(node, attributes, place);
  };

const leaseRule =
  ({ nodeLeaseNamespace }: Names): Rule =>
  (node, { verb }, { namespace, name }) => {
    if (!ownVerbs.includes(verb)) return because('can only get, create, update, patch, or delete a node lease');
    if (namespace !== nodeLeaseNamespace) {
      return because(`can only access leases in the ${quote(nodeLeaseNamespace)} system namespace`);
    }
    // The name of what is created is checked by NodeRestriction.
    if (verb === 'create' || name === node) return allowed;
    return because('can only access node lease with the same name as the requesting node');
  };

const csiNodeRule: Rule = (node, { verb }, { subresource, name }) => {
  if (!ownVerbs.includes(verb)) return because('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return because('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return allowed;
  return because('can only access CSINode with the same name as the requesting node');
};

/** Whether a field selector requires that a field names the node. */
const selects = ({ fieldSelector }: Attributes, field: string, node: string): boolean =>
  fieldSelector?.requirements.some((one) => one.field === field && !one.not && one.value === node) ?? false;

const sliceRule =
  (related: Rule, withSelectors: boolean): Rule =>
  (node, attributes, place) => {
    const { verb } = attributes;
    if (place.subresource !== '') return because('cannot authorize ResourceSlice subresources');
    if (verb === 'create') return allowed;
    if (['get', 'update', 'patch', 'delete'].includes(verb)) return related(node, attributes, place);
    if (['list', 'watch', 'deletecollection'].includes(verb)) {
      if (!withSelectors || selects(attributes, 'spec.nodeName', node)) return allowed;
      return because('can only list/watch/deletecollection resourceslices with nodeName field selector');
    }
    return because(
      'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
    );
  };

/** NodeRestriction limits the writes of a node to itself and its pods. */
const nodeRule: Rule = (node, { verb }, { subresource, name }) => {
  if (subresource === 'status') return ['update', 'patch'].includes(verb) ? allowed : noOpinion;
  if (subresource !== '') return noOpinion;
  if (['create', 'update', 'patch'].includes(verb)) return allowed;
  if (!reads.includes(verb)) return noOpinion;
  if (name === node) return allowed;
  return because(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  );
};

const podWrites: { readonly [subresource: string]: readonly string[] } = {
  '': ['create', 'delete'],
  status: ['update', 'patch'],
  eviction: ['create'],
};

const podRule =
  (get: Rule, related: Rule): Rule =>
  (node, attributes, place) => {
    const { verb } = attributes;
    const { subresource, name } = place;
    if (subresource === '' && verb === 'get') return get(node, attributes, place);
    if (subresource === '' && reads.includes(verb)) {
      if (selects(attributes, 'spec.nodeName', node)) return allowed;
      if (name !== '') return related(node, attributes, place);
      return because('can only list/watch pods with spec.nodeName field selector');
    }
    return podWrites[subresource]?.includes(verb) ? allowed : noOpinion;
  };
