import { describe, expect, it } from 'vitest';
import { defaultFeatures } from '../../meta/index.ts';
import { kubeLibraries } from '../base-libraries.ts';
import { check } from '../check/check.ts';
import { createEnvironment } from '../check/environment.ts';
import { estimateCost } from '../cost/estimate.ts';
import { Budget } from '../evaluate/budget.ts';
import { compileExpression } from '../evaluate/compile.ts';
import { dynType } from '../types.ts';
import { CelError, Interruption, ListValue, OptionalValue, type Value } from '../values.ts';
import { AuthorizerValue, authorizerType, ResourceCheckValue, resourceCheckType } from './authorizer.ts';
import { type AccessDecision, evaluateWithDecisions, PendingDecision } from './decisions.ts';
import { optionalsLibrary } from './optionals.ts';
import { standardLibrary } from './standard.ts';

const environment = createEnvironment({
  variables: [
    { name: 'authorizer', type: authorizerType },
    { name: 'authorizer.requestResource', type: resourceCheckType },
    { name: 'any', type: dynType },
  ],
  libraries: [standardLibrary, optionalsLibrary, ...kubeLibraries(defaultFeatures).map(({ library }) => library)],
});

const allowed = new AuthorizerValue({ name: 'jane', groups: [] }, () => ({ allowed: true, reason: 'role' }));
const limit = 1_000_000;

function evaluate(source: string, authorizer = allowed, budget = new Budget(limit), any: Value = null): Value {
  const request = new ResourceCheckValue(authorizer, { group: 'apps', resource: 'deployments' });
  return compileExpression(check(environment, source)).evaluate([authorizer, request, any], budget);
}

/** Lists and optional values as JavaScript has them. */
function plain(value: Value): unknown {
  if (value instanceof ListValue) return Array.from({ length: value.size }, (_, i) => plain(value.get(i)));
  if (value instanceof OptionalValue) return value.value === undefined ? 'none' : { some: plain(value.value) };
  return value;
}

describe('expressions', () => {
  it.each([
    [`url('https://example.com:80/a').getHost()`, 'example.com:80'],
    [`url('https://example.com/?k=a&k=b').getQuery()['k']`, ['a', 'b']],
    [`url('https://example.com/') == url('HTTPS://example.com/')`, true],
    [`isURL('example.com')`, false],
    [`quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger()`, 20],
    [`quantity('200M') == quantity('0.2G') && sign(quantity('-1')) == -1`, true],
    [`quantity('50.703k').asApproximateFloat() == 50703.0`, true],
    [`quantity('1').sign() + quantity('2').compareTo(quantity('1'))`, 2],
    [`[quantity('2'), quantity('1')].exists(q, q.isLessThan(quantity('1500m')))`, true],
    [`ip('192.168.0.1').family() == 4 && ip.isCanonical('::1')`, true],
    [`string(ip('2001:DB8::1')) + ' ' + string(cidr('10.1.2.3/8').masked())`, '2001:db8::1 10.0.0.0/8'],
    [`type(ip('::')) == net.IP && type(cidr('::/0')) == net.CIDR`, true],
    [`cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))`, true],
    [`cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.0.0.0/8').ip().isLoopback()`, true],
    [`format.dns1123Label().validate('good')`, 'none'],
    [`format.dns1123Label().validate('a.b')`, { some: ['must not contain dots'] }],
    [`format.named('uuid').value().validate('x').value()[0]`, 'does not match the UUID format'],
    [`format.named('unknown').hasValue()`, false],
    [`format.named('date').value() == format.date() && format.date() != format.datetime()`, true],
    [`semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && semver('v1', true).major() == 1`, true],
    [`isSemver('v1.0') || !isSemver('v1.0', true)`, false],
    [`dyn(quantity('1')) == dyn(semver('1.0.0'))`, false],
    [`authorizer.group('apps').resource('deployments').check('create').reason()`, 'role'],
    [`authorizer.requestResource.name('a').fieldSelector('a=b').check('get').allowed()`, true],
    [`!authorizer.serviceAccount('a', 'b').path('/healthz').check('get').errored()`, true],
    // A failure of a library is absorbed as any other.
    [`ip('nope').isLoopback() || true`, true],
  ])('%s', (source, expected) => {
    expect(plain(evaluate(source))).toEqual(expected);
  });

  it.each([
    [`quantity('10Mo')`, /^quantities must match the regular expression/],
    [`cidr('10.0.0.0/8').containsIP('nope')`, /^no such overload$/],
    [`authorizer.path(' ')`, /^path must not be empty$/],
    [`authorizer == authorizer`, /^no such overload$/],
    [`any.containsIP('10.0.0.0')`, /^no such overload/],
  ])('%s fails', (source, message) => {
    const failing = () => evaluate(source, allowed, new Budget(limit), evaluate(`quantity('1')`));
    expect(failing).toThrow(CelError);
    expect(failing).toThrow(message);
  });

  it.each([
    [`isIP(cidr('10.0.0.0/8'))`, `found no matching overload for 'isIP' applied to '(net.CIDR)'`],
    [`quantity('1').major()`, `found no matching overload for 'major' applied to 'kubernetes.Quantity.()'`],
    [`isQuantity([1])`, `found no matching overload for 'isQuantity' applied to '(list(int))'`],
  ])('%s does not type-check', (source, message) => {
    expect(() => check(environment, source)).toThrow(message);
  });
});

describe('costs of expressions', () => {
  it.each([
    [`url('https:://kubernetes.io/').getHost()`, 4, 4, 4],
    [`ip('192.168.0.1').family()`, 3, 3, 3],
    [`ip('2001:db8:3333:4444:5555:6666:7777:8888') == ip('192.168.0.1')`, 7, 7, 7],
    [`cidr('192.168.0.0/16').ip()`, 3, 3, 3],
    [`cidr('192.168.0.0/16').containsCIDR(cidr('192.0.0.0/30'))`, 7, 7, 11],
    [`cidr('192.168.0.0/16').containsIP('192.169.0.1')`, 5, 5, 8],
    [`quantity('200M') == quantity('0.2G') && quantity('0.2G') == quantity('200M')`, 6, 3, 6],
    [`quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger() > 0`, 7, 7, 7],
    [`quantity('50.703k').asApproximateFloat() > 0.0`, 3, 3, 3],
    [`format.named('dns1123Subdomain').value().validate('my-name')`, 17, 34, 34],
    [`format.named('dns1123Label').value() == format.named('dns1123Label').value()`, 5, 5, 11],
    [`url('https:://kubernetes.io/') == url('https:://kubernetes.io/')`, 7, 7, 9],
    [`url('https:://kubernetes.io/') == url('http://x.b')`, 5, 5, 5],
    [`semver('1234.56789012345.67890123456789')`, 4, 4, 4],
    [`authorizer.group('apps').resource('deployments').namespace('test').name('a')`, 5, 5, 5],
    [`authorizer.path('/healthz').check('get').allowed()`, 350_003, 350_003, 350_003],
    [
      `authorizer.group('').resource('pods').fieldSelector('spec.nodeName=example-node-name.fully.qualified.domain.name.example.com')`,
      1821,
      1821,
      1821,
    ],
  ])('%s costs %s', (source, cost, min, max) => {
    const budget = new Budget(limit);
    evaluate(source, allowed, budget);
    expect(limit - budget.remaining).toBe(cost);
    expect(estimateCost(check(environment, source))).toEqual({ min, max });
  });

  it('allow for two authorization checks', () => {
    const one = `authorizer.path('/a').check('get').allowed()`;
    expect(evaluate(`${one} && ${one}`)).toBe(true);
    expect(() => evaluate(`${one} && ${one} && ${one}`)).toThrow(Interruption);
  });
});

describe('pending decisions', () => {
  const pending = new AuthorizerValue({ name: 'jane', groups: [] }, () => undefined);
  const checked = `authorizer.path('/a').check('get').allowed()`;

  it.each([
    `${checked} || true`,
    `false || ${checked}`,
    `[1].exists(x, ${checked}) || true`,
    `[1, 2].all(x, x > 5 && ${checked} || ${checked})`,
    `optional.of(${checked}).orValue(true)`,
    `${checked} ? 1 : 2`,
  ])('are not absorbed by %s', (source) => {
    expect(() => evaluate(source, pending)).toThrow(PendingDecision);
  });

  it('are looked up, and the cost is counted once', async () => {
    const asked: string[] = [];
    const authorize = async ({ path }: { readonly path: string }): Promise<AccessDecision> => {
      asked.push(path);
      return { allowed: path === '/b', reason: '' };
    };
    const budget = new Budget(limit);
    const source = `['/a', '/b'].exists(p, authorizer.path(p).check('get').allowed())`;
    const result = await evaluateWithDecisions(
      (decide) => evaluate(source, new AuthorizerValue({ name: 'jane', groups: [] }, decide), budget),
      authorize,
      { budget },
    );
    expect(result).toBe(true);
    expect(asked).toEqual(['/a', '/b']);
    const direct = new Budget(limit);
    const known = new AuthorizerValue({ name: 'jane', groups: [] }, ({ path }) => ({
      allowed: path === '/b',
      reason: '',
    }));
    evaluate(source, known, direct);
    expect(budget.remaining).toBe(direct.remaining);
  });
});
