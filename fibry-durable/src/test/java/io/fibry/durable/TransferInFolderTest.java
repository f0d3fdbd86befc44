package io.fibry.durable;

class TransferInFolderTest extends TransferContract {
  TransferInFolderTest() {
    super(Folders::new);
  }
}
