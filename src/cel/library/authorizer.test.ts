import { describe, expect, it } from 'vitest';
import type { User } from '../../meta/index.ts';
import type { EstimatedArgument, Overload } from '../library.ts';
import { CelError, Interruption, type Value } from '../values.ts';
import { AuthorizerValue, authorizerLibrary, authorizerSelectorsLibrary, ResourceCheckValue } from './authorizer.ts';
import { type AccessAttributes, type AccessDecision, type Decide, PendingDecision } from './decisions.ts';

const user: User = { name: 'jane', groups: ['developers'] };
const functions = { ...authorizerLibrary.functions, ...authorizerSelectorsLibrary.functions };

function overload(name: string, type?: string): Overload {
  const all = functions[name] ?? [];
  const found =
    type === undefined ? all[0] : all.find(({ args: [first] }) => first?.kind === 'opaque' && first.name === type);
  if (found === undefined) throw new Error(`no function ${name} of ${type}`);
  return found;
}

/** Calls of member functions, one after the other: each with its arguments. */
const chain = (start: Value, ...calls: readonly (readonly [name: string, ...args: Value[]])[]): Value =>
  calls.reduce(
    (value, [name, ...args]) => overload(name, (value as AuthorizerValue).typeName).call(value, ...args),
    start,
  );

/** An authorizer that allows everything, and what it was asked. */
function allowing(): { readonly authorizer: AuthorizerValue; readonly asked: AccessAttributes[] } {
  const asked: AccessAttributes[] = [];
  const decide: Decide = (attributes) => {
    asked.push(attributes);
    return { allowed: true, reason: 'everything is allowed' };
  };
  return { authorizer: new AuthorizerValue(user, decide), asked };
}

describe('authorizer', () => {
  it('checks paths', () => {
    const { authorizer, asked } = allowing();
    expect(chain(authorizer, ['path', '/healthz'], ['check', 'get'], ['allowed'])).toBe(true);
    expect(asked).toEqual([{ user, verb: 'get', resource: undefined, path: '/healthz', selectors: {} }]);
  });

  it('checks resources', () => {
    const { authorizer, asked } = allowing();
    chain(authorizer, ['group', ''], ['resource', 'pods'], ['check', 'list']);
    chain(
      authorizer,
      ['group', 'apps'],
      ['resource', 'deployments'],
      ['subresource', 'scale'],
      ['namespace', 'test'],
      ['name', 'backend'],
      ['check', 'update'],
    );
    const place = { group: '', version: '*', resource: 'pods', subresource: '', namespace: '', name: '' };
    expect(asked).toEqual([
      { user, verb: 'list', resource: place, path: '', selectors: {} },
      {
        user,
        verb: 'update',
        resource: {
          group: 'apps',
          version: '*',
          resource: 'deployments',
          subresource: 'scale',
          namespace: 'test',
          name: 'backend',
        },
        path: '',
        selectors: {},
      },
    ]);
  });

  it('checks the resource of the request', () => {
    const { authorizer, asked } = allowing();
    const request = new ResourceCheckValue(authorizer, { group: 'apps', resource: 'deployments', name: 'a' });
    chain(request, ['name', 'b'], ['check', 'get']);
    chain(request, ['check', 'get']);
    expect(asked.map(({ resource }) => resource?.name)).toEqual(['b', 'a']);
  });

  it('checks for service accounts', () => {
    const { authorizer, asked } = allowing();
    chain(authorizer, ['serviceAccount', 'default', 'robot'], ['path', '/'], ['check', 'get']);
    expect(asked[0]?.user).toEqual({
      name: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
    });
  });

  it('passes selectors to the authorizer, or why they are invalid', () => {
    const { authorizer, asked } = allowing();
    const pods = chain(authorizer, ['group', ''], ['resource', 'pods']);
    chain(pods, ['fieldSelector', 'spec.nodeName=a'], ['labelSelector', 'app in (b,c)'], ['check', 'list']);
    chain(pods, ['fieldSelector', ''], ['labelSelector', ''], ['check', 'list']);
    chain(pods, ['fieldSelector', 'a'], ['labelSelector', 'a in'], ['check', 'list']);
    const [good, none, bad] = asked.map(({ selectors }) => selectors);
    expect(good?.fieldSelector?.selector?.terms).toEqual([{ field: 'spec.nodeName', value: 'a', not: false }]);
    expect(good?.labelSelector?.selector?.requirements).toEqual([{ key: 'app', operator: 'in', values: ['b', 'c'] }]);
    expect(none).toEqual({});
    expect(bad?.fieldSelector?.error?.message).toBe("invalid selector: 'a'; can't understand 'a'");
    expect(bad?.labelSelector?.error?.message).toBe("unable to parse requirement: found '' expected: '('");
  });

  it.each([
    [['path', ''], 'path must not be empty'],
    [['path', '  '], 'path must not be empty'],
    [['serviceAccount', 'not@a#valid!namespace', 'name'], 'Invalid service account namespace'],
    [['serviceAccount', 'valid.example.com', 'name'], 'Invalid service account namespace'],
    [['serviceAccount', 'default', 'invalid@*name'], 'Invalid service account name'],
  ] as const)('refuses %j', (call, message) => {
    expect(() => chain(allowing().authorizer, call)).toThrow(new CelError(message));
  });

  it.each(['', ' '])('refuses the resource %j', (resource) => {
    const group = chain(allowing().authorizer, ['group', 'apps']);
    expect(() => chain(group, ['resource', resource])).toThrow(new CelError('resource must not be empty'));
  });

  it.each<[AccessDecision, unknown[]]>([
    [{ allowed: true, reason: 'role' }, [true, 'role', '', false]],
    [{ allowed: false, reason: '' }, [false, '', '', false]],
    [{ allowed: false, reason: '', error: 'no answer' }, [false, '', 'no answer', true]],
  ])('tells of the decision %j', (decision, told) => {
    const authorizer = new AuthorizerValue(user, () => decision);
    const value = chain(authorizer, ['path', '/'], ['check', 'get']);
    expect(['allowed', 'reason', 'error', 'errored'].map((name) => chain(value, [name]))).toEqual(told);
  });

  it('ends the evaluation with what it asks for while there is no decision', () => {
    const authorizer = new AuthorizerValue(user, () => undefined);
    let thrown: unknown;
    try {
      chain(authorizer, ['path', '/a'], ['check', 'get']);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(PendingDecision);
    expect(thrown).toBeInstanceOf(Interruption);
    expect(thrown).not.toBeInstanceOf(CelError);
    expect((thrown as PendingDecision).attributes).toMatchObject({ user, verb: 'get', path: '/a' });
  });

  it('cannot be compared', () => {
    const { authorizer } = allowing();
    expect(() => authorizer.equals()).toThrow(new CelError('no such overload'));
  });
});

describe('costs', () => {
  const estimateOf = (name: string, ...sizes: number[]) =>
    overload(name).estimate?.(
      sizes.map((size): EstimatedArgument => {
        const range = { min: size, max: size };
        return { size: range, type: { kind: 'dyn' }, literal: undefined, elementSize: undefined };
      }),
    ).cost;

  it('of a check allow for two in an expression', () => {
    expect(overload('check').cost?.([null, 'get'], null)).toBe(350_000);
    expect(estimateOf('check', 0, 3)).toEqual({ min: 350_000, max: 350_000 });
  });

  it.each(['fieldSelector', 'labelSelector'])('of %s are for a list of requirements', (name) => {
    // 10 for the list, 8 for the text, 36 requirements of 50.
    expect(overload(name).cost?.([null, 'x'.repeat(71)], null)).toBe(1818);
    expect(estimateOf(name, 0, 71)).toEqual({ min: 1818, max: 1818 });
    expect(estimateOf(name, 0, 2 ** 64)).toEqual({ min: 2 ** 64, max: 2 ** 64 });
  });

  it.each(['path', 'group', 'resource', 'serviceAccount', 'name', 'allowed'])('of %s are 1', (name) => {
    const args = [null, 'a'.repeat(100)];
    expect(overload(name).cost?.(args, null) ?? 1).toBe(1);
    expect(estimateOf(name, 0, 100) ?? { min: 1, max: 1 }).toEqual({ min: 1, max: 1 });
  });
});
