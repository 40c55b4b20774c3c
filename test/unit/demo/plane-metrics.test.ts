import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlaneMetrics } from '../../../src/demo/plane-metrics.ts';

const PAGE = `# HELP plimsoll_backend_weight Published endpoint weight.
# TYPE plimsoll_backend_weight gauge
plimsoll_backend_weight{server_group="llama",backend="127.0.0.1:1"} 104201
plimsoll_backend_weight{server_group="other",backend="127.0.0.1:1"} 7
plimsoll_backend_share_ratio{server_group="llama",backend="127.0.0.1:1"} 0.25
plimsoll_backend_score_ratio{server_group="llama",backend="[::1]:2"} 0.5
plimsoll_backend_health{server_group="llama",backend="127.0.0.1:1",state="HEALTHY"} 0
plimsoll_backend_health{server_group="llama",backend="127.0.0.1:1",state="UNHEALTHY"} 1
plimsoll_server_group_mode{server_group="llama",mode="configured"} 0
plimsoll_server_group_mode{server_group="llama",mode="balanced"} 1
plimsoll_server_group_shed_ratio{server_group="llama"} 0.345
plimsoll_server_group_shed_ratio{server_group="other"} 0.9
plimsoll_server_group_gain{server_group="llama"} 0.5
plimsoll_xds_streams{service="ads",variant="delta"} 1
`;

test('one group is read off the page, and what it does not say is undefined', () => {
  assert.deepEqual(readPlaneMetrics(PAGE, 'llama'), {
    mode: 'balanced',
    shed: 0.345,
    backends: new Map([
      ['127.0.0.1:1', { weight: 104_201, share: 0.25, score: undefined, health: 'UNHEALTHY' }],
      ['[::1]:2', { weight: undefined, share: undefined, score: 0.5, health: undefined }],
    ]),
  });
});

test('a group that is not there has nothing', () => {
  assert.deepEqual(readPlaneMetrics(PAGE, 'absent'), {
    mode: undefined,
    shed: undefined,
    backends: new Map(),
  });
});
