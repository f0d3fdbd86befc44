package io.fibry.store.folder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongSupplier;

/** Opens a log whose records are texts. */
final class TextLog {
  private TextLog() {}

  /** Adds the present texts to a list. */
  static SegmentLog open(StorageDirectory disk, int segment, LongSupplier nanoTime, List<String> found)
      throws IOException {
    long store = StoreIdFile.open(disk, segment);
    var spares = new SegmentPreallocator(disk, Runnable::run, segment, nanoTime);
    return SegmentLog.open(disk, store, spares, (place, frame, file) -> Frame.of(place, file).records()
        .forEach(record -> found.add(StandardCharsets.UTF_8.decode(record.duplicate()).toString())));
  }
}
