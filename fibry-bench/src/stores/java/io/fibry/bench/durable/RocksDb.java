package io.fibry.bench.durable;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** RocksDB with its default options. Each batch is one write with a sync. */
record RocksDb(RocksDB db, Options options, WriteOptions syncOptions) implements EmbeddedStore {

  static RocksDb open(Path folder) throws RocksDBException {
    var options = new Options().setCreateIfMissing(true);
    return new RocksDb(RocksDB.open(options, folder.toString()), options, new WriteOptions().setSync(true));
  }

  @Override
  public void commit(List<Entry> batch) throws RocksDBException {
    try (var writes = new WriteBatch()) {
      for (var entry : batch)
        writes.put((entry.actor() + "/" + entry.number()).getBytes(StandardCharsets.UTF_8), entry.body());
      db.write(syncOptions, writes);
    }
  }

  @Override
  public long count() {
    long count = 0;
    try (var entries = db.newIterator()) {
      for (entries.seekToFirst(); entries.isValid(); entries.next()) count++;
    }
    return count;
  }

  @Override
  public void close() {
    syncOptions.close();
    db.close();
    options.close();
  }
}
