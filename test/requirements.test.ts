import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasProgram } from './support/requirements.ts';

describe('a program that a test needs and that is not installed', () => {
  const missing = () => hasProgram('no-such-program', '--version');
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it('fails the test in CI, and the error says what to install', () => {
    vi.stubEnv('CI', 'true');
    expect(missing).toThrow('tests cannot run: install no-such-program and put it on the PATH');
  });

  it('skips the test elsewhere, with a visible line', () => {
    vi.stubEnv('CI', undefined);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    expect(missing()).toBe(false);
    expect(warn.mock.calls).toEqual([['SKIPPED: install no-such-program and put it on the PATH']]);
  });
});
