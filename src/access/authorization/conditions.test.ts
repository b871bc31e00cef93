import { describe, expect, it } from 'vitest';
import { atOnce, type JsonObject } from '../../meta/index.ts';
import { type Condition, compileCondition, matchInSteps } from './conditions.ts';

const conditionsOf = (...sources: readonly string[]): Condition[] =>
  sources.map((source) => {
    const compiled = compileCondition(source);
    if (typeof compiled === 'string') throw new Error(compiled);
    return compiled;
  });
const match = (spec: JsonObject, ...sources: readonly string[]) => atOnce(matchInSteps(conditionsOf(...sources), spec));
const errorOf = (source: string, why: string) =>
  `cel evaluation error: expression '${source}' resulted in error: ${why}`;

const pod: JsonObject = {
  user: 'jane',
  resourceAttributes: {
    verb: 'list',
    resource: 'pods',
    fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }] },
  },
};
const path: JsonObject = { user: 'jane', nonResourceAttributes: { path: '/x', verb: 'get' } };
const absent = "request.nonResourceAttributes.path == '/x'";

describe('match conditions', () => {
  it('match when all are true', () => {
    expect(match(pod, "request.user == 'jane'", "request.resourceAttributes.resource == 'pods'")).toEqual({
      outcome: 'match',
    });
    expect(match(pod)).toEqual({ outcome: 'match' });
  });

  it('exclude when one is false, also behind one that fails', () => {
    expect(match(pod, absent, "request.user != 'jane'")).toEqual({ outcome: 'exclusion' });
    expect(match(pod, "request.user != 'jane'", absent)).toEqual({ outcome: 'exclusion' });
  });

  it('fail when one fails and none is false, with the failures of all', () => {
    const missing = errorOf(absent, 'no such key: nonResourceAttributes');
    expect(match(pod, absent, 'true')).toEqual({ outcome: 'error', message: missing });
    const division = '1 / int(request.uid.size()) == 1';
    expect(match(pod, absent, division)).toEqual({
      outcome: 'error',
      message: `[${missing}, ${errorOf(division, 'division by zero')}]`,
    });
  });

  it.each([
    ['empty texts and groups', pod, "request.uid == '' && request.groups.size() == 0 && request.extra.size() == 0"],
    ['an empty namespace', pod, "request.resourceAttributes.namespace == '' && has(request.resourceAttributes.name)"],
    [
      'attributes of a resource or of a path',
      pod,
      'has(request.resourceAttributes) && !has(request.nonResourceAttributes)',
    ],
    ['attributes of a path', path, '!has(request.resourceAttributes) && has(request.nonResourceAttributes)'],
    ['no label selector', pod, '!has(request.resourceAttributes.labelSelector)'],
    [
      'a field selector',
      pod,
      "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'spec.nodeName' && r.operator == 'In' && 'n' in r.values)",
    ],
    ['groups', { ...pod, groups: ['a', 'b'] }, "'b' in request.groups"],
    ['extra', { ...pod, extra: { k: ['v'] } }, "request.extra['k'] == ['v']"],
  ])('see %s', (_, spec, expression) => {
    expect(match(spec, expression)).toEqual({ outcome: 'match' });
  });

  it.each([
    ['request.user', 'must evaluate to bool but got string'],
    ['object.user == 1', "undeclared reference to 'object'"],
    ['request.spec.user == 1', "undefined field 'spec'"],
    ["'a' in request.group", "undefined field 'group'"],
    ['request.user == 1', 'found no matching overload'],
    ["authorizer.path('/x').check('get').allowed()", "undeclared reference to 'authorizer'"],
    ['request.user ==', 'Syntax error'],
    ["int('x') == 1", 'program instantiation failed: '],
  ])('refuse %s', (source, why) => {
    expect(compileCondition(source)).toEqual(expect.stringContaining(why));
  });

  it('have a cost limit each, and together', () => {
    const groups = Array.from({ length: 600 }, (_, i) => `g${i}`);
    const nested = (name: string) => `request.groups.all(a, request.groups.all(b, a + b != '${name}'))`;
    expect(match({ ...pod, groups }, nested('x'))).toMatchObject({
      outcome: 'error',
      message: expect.stringContaining('cost limit exceeded'),
    });
    const some = groups.slice(0, 250);
    const all = Array.from({ length: 20 }, (_, i) => nested(`x${i}`));
    expect(match({ ...pod, groups: some }, ...all.slice(0, 2))).toEqual({ outcome: 'match' });
    expect(match({ ...pod, groups: some }, ...all)).toEqual({
      outcome: 'error',
      message: 'the match conditions exceed their cost limit together',
    });
  });
});
