package io.fibry.store.folder.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.store.folder.StorageDirectory;
import io.fibry.support.Intercepted;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FileWindowTest {
  private static final int LARGE = 1 << 20; // bytes

  @Test
  void largeFileOpenedAfterSmallFileIsReadInOneRead() throws IOException {
    var disk = CrashDisk.empty();
    disk.create("small", 100);
    disk.create("large", LARGE);
    var reads = new AtomicInteger();
    var window = new FileWindow(Intercepted.of(StorageDirectory.class, disk, (method, arguments, call) -> {
      if (method.getName().equals("read")) reads.incrementAndGet();
      return call.pass();
    }));
    window.open("small");
    window.bytesAt(0, 50);
    reads.set(0);

    window.open("large");
    for (int offset = 0; offset < LARGE; offset += 50) window.bytesAt(offset, 50);

    assertEquals(1, reads.get());
  }
}
