import { describe, expect, it } from 'vitest';
import { originOf } from './console-access.ts';

describe('the origin to which the page of the console may connect', () => {
  it.each([
    ['https://login.example.com/realms/main', 'https://login.example.com'],
    ['https://login.example.com:8443/token?a=1#b', 'https://login.example.com:8443'],
    ['https://user:secret@login.example.com/', 'https://login.example.com'],
    ['https://LOGIN.example.com/../..', 'https://login.example.com'],
    ['https://[::1]:8443/', 'https://[::1]:8443'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example'],
  ])('of %s is %s', (url, origin) => {
    expect(originOf(url)).toBe(origin);
  });

  it.each([
    'http://login.example.com/',
    'https://*/',
    'https://*.example.com/',
    'https://a;sandbox/',
    'https://a,b/',
    "https://'unsafe-inline'/",
    `https://${'a'.repeat(254)}/`,
    'data:text/plain,a',
  ])('is none for %s, which a policy would take as something else', (url) => {
    expect(originOf(url)).toBeUndefined();
  });
});
