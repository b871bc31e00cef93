import { expect, it, vi } from 'vitest';
import { statusError } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';
import { logFailures } from './run-until-signal.ts';

it('survives the unhandled failure of a request, and no other', () => {
  const listeners = new Map<string | symbol, (error: unknown) => void>();
  vi.spyOn(process, 'on').mockImplementation((name, listener) => {
    listeners.set(name, listener);
    return process;
  });
  const error = vi.fn<Log['error']>();
  logFailures({ error } as unknown as Log);
  const reject = (reason: unknown) => listeners.get('unhandledRejection')?.(reason);
  const gone = statusError.badRequest('the client has disconnected');
  reject(gone);
  expect(error).toHaveBeenCalledExactlyOnceWith(expect.any(String), { error: gone });
  // Thrown here, it is an uncaught exception.
  expect(() => reject(new Error('broken'))).toThrow('broken');
});
