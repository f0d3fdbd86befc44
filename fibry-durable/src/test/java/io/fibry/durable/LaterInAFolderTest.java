package io.fibry.durable;

class LaterInAFolderTest extends LaterContract {
  LaterInAFolderTest() {
    super(Folders::new);
  }
}
