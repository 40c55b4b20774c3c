import type { Assignment, Listener, ServerGroup } from '../core/model.ts';
import { encodeAssignment } from './resources/assignment.ts';
import { encodeCluster } from './resources/cluster.ts';
import { encodeListener } from './resources/listener.ts';
import { encodeRoute } from './resources/route.ts';
import { TYPE_URLS } from './resources/type-urls.ts';
