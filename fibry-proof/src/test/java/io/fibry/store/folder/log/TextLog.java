package io.fibry.store.folder.log;

import io.fibry.store.folder.StorageDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongSupplier;

/** Opens a log whose records are texts. */
final class TextLog {
  private TextLog() {}

  /** Opens the log, and adds the texts in it to a list. */
  static SegmentLog open(StorageDirectory disk, int segment, LongSupplier nanoTime, List<String> texts)
      throws IOException {
    long storeId = StoreIdFile.readOrCreate(disk, segment);
    var preallocator = new SegmentPreallocator(disk, Runnable::run, segment, nanoTime);
    return SegmentLog.open(disk, storeId, preallocator, (position, frame, file) -> Frame.of(position, file).records()
        .forEach(record -> texts.add(StandardCharsets.UTF_8.decode(record.duplicate()).toString())));
  }
}
