import { BlockList, isIP } from 'node:net';

interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * The proxy of the environment for a server: that of `HTTPS_PROXY` or, for a server without TLS, `HTTP_PROXY`, unless
 * `NO_PROXY` names the server; in capitals or not. Undefined without one. Loopback addresses are never proxied. The rules are
 * those of the package net/http of Go.
 */
export function proxyOfEnvironment(server: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const proxy = variable(env, protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === undefined) return undefined;
  const target = {
    host: unbracketed(hostname).toLowerCase().replace(/\.$/, ''),
    port: port === '' ? (protocol === 'https:' ? '443' : '80') : port,
  };
  if (isLoopback(target.host)) return undefined;
  const rules = (variable(env, 'NO_PROXY') ?? '').toLowerCase().split(',');
  return rules.some((rule) => excludes(rule.trim(), target)) ? undefined : withScheme(proxy);
}

const variable = (env: Environment, name: string): string | undefined =>
  [env[name], env[name.toLowerCase()]].find((value) => value !== undefined && value !== '');

/** A proxy without a known scheme is one over HTTP. */
const withScheme = (proxy: string): string => (/^(?:https?|socks5h?):\/\//i.test(proxy) ? proxy : `http://${proxy}`);

const unbracketed = (host: string): string => host.replace(/^\[|\]$/g, '');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const isLoopback = (host: string): boolean => host === 'localhost' || isIn(loopback, host);

/** Whether a list has an address; false for the name of a host. */
function isIn(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

interface Target {
  readonly host: string;
  readonly port: string;
}

/** Whether a rule of `NO_PROXY` names a host: `*`, a range, an address, a domain with or without dot; with or without a port. */
function excludes(rule: string, { host, port }: Target): boolean {
  if (rule === '' || rule === '*') return rule === '*';
  const [network = '', bits = '', ...more] = rule.split('/');
  if (bits !== '' && more.length === 0 && isIP(network) !== 0) return isIn(rangeOf(network, Number(bits)), host);
  const [, name = '', rulePort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(rule) ?? ['', rule];
  if (name === '' || (rulePort !== undefined && rulePort !== port)) return false;
  const plain = unbracketed(name);
  if (isIP(plain) !== 0) return isIn(rangeOf(plain, isIP(plain) === 4 ? 32 : 128), host);
  const suffix = plain.replace(/^\*(?=\.)/, '');
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

/** The addresses of a range; none where the length of the prefix is wrong. */
function rangeOf(network: string, bits: number): BlockList {
  const [family, most] = isIP(network) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const list = new BlockList();
  if (Number.isInteger(bits) && bits >= 0 && bits <= most) list.addSubnet(network, bits, family);
  return list;
}
