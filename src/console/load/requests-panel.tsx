/** Who sends the requests that the server executes now, and how long they take. */
import { useState } from 'preact/hooks';
import { readText } from '../../client/index.ts';
import { Panel } from '../parts/panel.tsx';
import { useAllowed } from '../state/access.ts';
import { currentSession } from '../state/session.ts';
import { ageOf } from '../table/rows.ts';
import { t } from '../texts.ts';
import { type CurrentRequest, requestsOf, requestsPath, requestsUrl } from './current-requests.ts';
import { useRepeated } from './repeated.ts';

/** At most this many requests are shown, the oldest first. */
const maxShown = 50;

/** Absent for users who may not read the dump. */
export function RequestsPanel() {
  const { client } = currentSession();
  const mayRead = useAllowed({ verb: 'get', path: requestsPath });
  const [requests, setRequests] = useState<readonly CurrentRequest[]>([]);
  const read = async (signal: AbortSignal) => {
    const response = await client.request({ method: 'GET', url: requestsUrl, headers: {}, signal });
    setRequests(requestsOf(await readText(response)));
  };
  useRepeated(mayRead ? read : undefined);
  if (!mayRead) return null;
  const now = Date.now();
  return (
    <Panel title={t('currentRequests')} flush>
      <table aria-label={t('currentRequests')}>
        <thead>
          <tr>
            <th scope="col">{t('since')}</th>
            <th scope="col">{t('user')}</th>
            <th scope="col">{t('request')}</th>
            <th scope="col">{t('priorityLevel')}</th>
          </tr>
        </thead>
        <tbody>
          {requests.slice(0, maxShown).map(({ user, verb, path, level, waits, arrived }, index) => (
            <tr key={index}>
              <td>{ageOf(arrived, now)}</td>
              <td>{user}</td>
              <td class="wrapped">
                {verb} {path}
              </td>
              <td>
                {level} {waits && <span class="dim">{t('waits')}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
