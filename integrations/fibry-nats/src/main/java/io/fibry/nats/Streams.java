package io.fibry.nats;

import io.fibry.cluster.LostException;
import io.fibry.cluster.LostException.Loss;
import io.fibry.text.Lines;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Makes streams, or compares them with those that are there: nothing is changed silently. */
final class Streams {
  static final Duration IDS_KNOWN = Duration.ofMinutes(2);
  private static final int NONE = 10059;
  private static final int ANOTHER = 10058; // was made meanwhile, differently

  private Streams() {}

  static void make(JetStreamManagement management, StreamConfiguration wanted) throws IOException {
    try {
      if (!isThere(management, wanted)) management.addStream(wanted);
    } catch (JetStreamApiException refused) {
      if (refused.getApiErrorCode() != ANOTHER) throw refused(wanted, refused);
      compareAgain(management, wanted);
    }
  }

  private static void compareAgain(JetStreamManagement management, StreamConfiguration wanted) throws IOException {
    try {
      isThere(management, wanted);
    } catch (JetStreamApiException refused) {
      throw refused(wanted, refused);
    }
  }

  private static RuntimeException refused(StreamConfiguration wanted, JetStreamApiException refused) {
    String text = "stream " + wanted.getName() + " cannot be made: " + Lines.message(refused);
    return refused.getErrorCode() == 503 ? new LostException(Loss.CUT, text) : new IllegalStateException(text);
  }

  private static boolean isThere(JetStreamManagement management, StreamConfiguration wanted)
      throws IOException, JetStreamApiException {
    try {
      compare(wanted, management.getStreamInfo(wanted.getName()).getConfiguration());
      return true;
    } catch (JetStreamApiException none) {
      if (none.getApiErrorCode() == NONE) return false;
      throw none;
    }
  }

  private static void compare(StreamConfiguration wanted, StreamConfiguration there) {
    var differences = new ArrayList<String>();
    compare(differences, "subjects", wanted.getSubjects(), there.getSubjects());
    compare(differences, "retention", wanted.getRetentionPolicy(), there.getRetentionPolicy());
    compare(differences, "storage", wanted.getStorageType(), there.getStorageType());
    compare(differences, "replicas", wanted.getReplicas(), there.getReplicas());
    compare(differences, "discard", wanted.getDiscardPolicy(), there.getDiscardPolicy());
    compare(differences, "messages of a subject", wanted.getMaxMsgsPerSubject(), there.getMaxMsgsPerSubject());
    compare(differences, "most age", wanted.getMaxAge(), there.getMaxAge());
    compare(differences, "most messages", wanted.getMaxMsgs(), there.getMaxMsgs());
    compare(differences, "leases", wanted.getAllowMessageTtl(), there.getAllowMessageTtl());
    compare(differences, "time of markers", wanted.getSubjectDeleteMarkerTtl(), there.getSubjectDeleteMarkerTtl());
    compare(differences, "time that ids are known", wanted.getDuplicateWindow(), there.getDuplicateWindow());
    compare(differences, "batches", wanted.getAllowAtomicPublish(), there.getAllowAtomicPublish());
    compare(differences, "rollups", wanted.getAllowRollup(), there.getAllowRollup());
    compare(differences, "direct reads", wanted.getAllowDirect(), there.getAllowDirect());
    if (!differences.isEmpty()) throw new IllegalStateException("stream " + wanted.getName()
        + " is not as this program would make it (" + String.join("; ", differences)
        + "); change it by the tools of NATS, or give the same options as the nodes that made it");
  }

  private static void compare(List<String> differences, String what, Object wanted, Object there) {
    if (!Objects.equals(wanted, there)) differences.add(Lines.escaped(what + " " + there + " instead of " + wanted));
  }
}
