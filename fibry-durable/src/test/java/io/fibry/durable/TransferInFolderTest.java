package io.fibry.durable;

class TransferInFolderTest extends TransferContract {
  TransferInFolderTest() {
    super(FolderStores::new);
  }
}
