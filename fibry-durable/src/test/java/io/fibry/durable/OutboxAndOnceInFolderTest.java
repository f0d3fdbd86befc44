package io.fibry.durable;

class OutboxAndOnceInFolderTest extends OutboxAndOnceContract {
  OutboxAndOnceInFolderTest() {
    super(FolderStores::new);
  }
}
