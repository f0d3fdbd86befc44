package io.fibry.durable;

class WaitingInAFolderTest extends WaitingContract {
  WaitingInAFolderTest() {
    super(Folders::new);
  }
}
