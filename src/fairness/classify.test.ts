import { describe, expect, it } from 'vitest';
import type { ResourcePlace, User } from '../meta/index.ts';
import type { FlowSchemaSpec } from '../types/flowcontrol-v1.ts';
import { Classifier, compileSchema, distinguisherOf, type FlowAttributes } from './classify.ts';

const jane: User = { name: 'jane', groups: ['developers', 'system:authenticated'] };
const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
const to = (subjects: object[], rules: object, precedence = 100) =>
  ({
    priorityLevelConfiguration: { name: 'level' },
    matchingPrecedence: precedence,
    rules: [{ subjects, ...rules }],
  }) as FlowSchemaSpec;
const user = (name: string) => ({ kind: 'User', user: { name } });

const place: ResourcePlace = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: 'x' };
const ofPods = (more: Partial<ResourcePlace> = {}, verb = 'get', by = jane): FlowAttributes => ({
  user: by,
  verb,
  resource: { ...place, ...more },
  path: '',
});
const ofPath = (path: string, verb = 'get'): FlowAttributes => ({ user: jane, verb, resource: undefined, path });

const matches = (spec: FlowSchemaSpec, attributes: FlowAttributes): boolean =>
  new Classifier([compileSchema('s', 'uid', spec)]).classify(attributes) !== undefined;

describe('a flow schema', () => {
  // As recorded in flowcontrol.classification.
  it.each<[string, object, FlowAttributes, boolean]>([
    ['all resources', all, ofPods(), true],
    ['another verb', { ...all, verbs: ['list'] }, ofPods(), false],
    ['another group', { ...all, apiGroups: ['apps'] }, ofPods(), false],
    ['the resource', { ...all, resources: ['pods'] }, ofPods(), true],
    [
      'the resource without its subresources',
      { ...all, resources: ['pods'] },
      ofPods({ subresource: 'status' }),
      false,
    ],
    ['a subresource', { ...all, resources: ['pods/status'] }, ofPods({ subresource: 'status' }), true],
    ['its namespace', { ...all, namespaces: ['a'], clusterScope: false }, ofPods(), true],
    ['another namespace', { ...all, namespaces: ['b'] }, ofPods(), false],
    ['no cluster scope', { ...all, clusterScope: false }, ofPods({ namespace: '' }, 'list'), false],
    ['only the cluster scope', { ...all, namespaces: [] }, ofPods({ namespace: '' }, 'list'), true],
    ['only the cluster scope, for a namespace', { ...all, namespaces: [] }, ofPods(), false],
    // A list that was sent without a value is stored as null.
    ['only the cluster scope, stored', { ...all, namespaces: null }, ofPods({ namespace: '' }, 'list'), true],
    ['nothing', { verbs: null, apiGroups: null, resources: null, namespaces: null }, ofPods(), false],
  ])('matches resources: %s', (_, resourceRule, attributes, expected) => {
    expect(matches(to([user('jane')], { resourceRules: [resourceRule] }), attributes)).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ['*', '/any', true],
    ['/livez', '/livez', true],
    ['/livez', '/livez/ping', true],
    ['/exact', '/exact/', true],
    ['/exact', '/exactly', false],
    ['/kim/*', '/kim/b/c', true],
    ['/kim/*', '/kim/', true],
    ['/kim/*', '/kim', false],
  ])('with the path %s and the request for %s', (url, path, expected) => {
    const nonResourceRules = [{ verbs: ['get'], nonResourceURLs: [url] }];
    expect(matches(to([user('jane')], { nonResourceRules }), ofPath(path))).toBe(expected);
    expect(matches(to([user('jane')], { nonResourceRules }), ofPath(path, 'post'))).toBe(false);
  });

  const account = (namespace: string, name: string) => ({
    kind: 'ServiceAccount',
    serviceAccount: { namespace, name },
  });
  it.each<[string, object, User, boolean]>([
    ['a user', user('jane'), jane, true],
    ['another user', user('joe'), jane, false],
    ['every user', user('*'), jane, true],
    ['a group', { kind: 'Group', group: { name: 'developers' } }, jane, true],
    ['a service account', account('a', 'b'), { name: 'system:serviceaccount:a:b', groups: [] }, true],
    ['another one', account('a', 'c'), { name: 'system:serviceaccount:a:b', groups: [] }, false],
    ['all of a namespace', account('a', '*'), { name: 'system:serviceaccount:a:b', groups: [] }, true],
    ['all of another namespace', account('ab', '*'), { name: 'system:serviceaccount:a:b', groups: [] }, false],
  ])('matches subjects: %s', (_, subject, by, expected) => {
    expect(matches(to([subject], { resourceRules: [all] }), ofPods({}, 'get', by))).toBe(expected);
  });

  it('is tried in the order of precedence, then of names', () => {
    const spec = (precedence: number) => to([user('*')], { resourceRules: [all] }, precedence);
    const classifier = new Classifier(
      [
        ['late', 300],
        ['b', 200],
        ['a', 200],
      ].map(([name, precedence]) => compileSchema(String(name), '', spec(Number(precedence)))),
    );
    expect(classifier.schemas.map(({ name }) => name)).toEqual(['a', 'b', 'late']);
    expect(classifier.classify(ofPods())?.name).toBe('a');
  });

  it('follows a user whose groups have changed', () => {
    const spec = to([{ kind: 'Group', group: { name: 'new' } }], { resourceRules: [all] });
    const classifier = new Classifier([compileSchema('s', '', spec)]);
    expect(classifier.classify(ofPods())).toBeUndefined();
    expect(classifier.classify(ofPods({}, 'get', { ...jane, groups: ['new'] }))?.name).toBe('s');
  });

  it('tells flows apart by user or namespace', () => {
    const spec = to([user('*')], { resourceRules: [all] });
    const distinguished = (type?: string) =>
      distinguisherOf(
        compileSchema('s', '', { ...spec, ...(type === undefined ? {} : { distinguisherMethod: { type } }) }),
        ofPods(),
      );
    expect([distinguished('ByUser'), distinguished('ByNamespace'), distinguished()]).toEqual(['jane', 'a', '']);
  });
});
