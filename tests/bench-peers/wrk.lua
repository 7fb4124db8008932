-- wrk asks for the pages of the list in the file named by PAGES, one after the other, for ever.
local pages = {}
for name in io.lines(os.getenv("PAGES")) do pages[#pages + 1] = "/" .. name end
local last = 0
request = function()
  last = last % #pages + 1
  return wrk.format("GET", pages[last])
end
