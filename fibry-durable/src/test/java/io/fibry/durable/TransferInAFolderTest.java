package io.fibry.durable;

class TransferInAFolderTest extends TransferContract {
  TransferInAFolderTest() {
    super(Folders::new);
  }
}
