package io.fibry.store.folder.log;

import java.time.Duration;

/** The number of syncs of a log, and their durations. */
public record SyncStatistics(long count, Duration total, Duration last) {
  static final SyncStatistics NONE = new SyncStatistics(0, Duration.ZERO, Duration.ZERO);

  SyncStatistics plus(long nanos) {
    var lastDuration = Duration.ofNanos(nanos);
    return new SyncStatistics(count + 1, total.plus(lastDuration), lastDuration);
  }
}
